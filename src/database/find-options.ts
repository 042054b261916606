/** Columns in the order of their weight, each with its direction. */
export type Order<E> = Readonly<Partial<Record<keyof E & string, 'ASC' | 'DESC'>>>;

/** What `find` gives of the rows that match; all of it by default. */
export interface FindOptions<E> {
  readonly order?: Order<E>;
  readonly limit?: number;
  readonly columns?: readonly (keyof E & string)[];
  /** The index to read from, where MySQL would choose another. */
  readonly index?: string;
}
