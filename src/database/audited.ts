import { Column } from 'typeorm';
import { ascii, instant, text } from './columns';

/** Who made a row and who changed it last. */
export abstract class Stamped {
  @Column({ name: 'create_by', type: 'varchar', length: 64, ...text })
  createBy!: string;

  @Column({ name: 'create_time', ...instant })
  createTime!: Date;

  @Column({ name: 'update_by', type: 'varchar', length: 64, ...text })
  updateBy!: string;

  @Column({ name: 'update_time', ...instant, nullable: true })
  updateTime!: Date | null;

  /** Raised by every change of the row: what a conditional change is held against. */
  @Column({ type: 'integer', default: 0 })
  revision!: number;
}

/** A row that can be disabled and is only marked when it is deleted. */
export abstract class Audited extends Stamped {
  @Column({ type: 'varchar', length: 1, ...ascii })
  status!: string;

  /** Soft delete: `0` exists, `2` deleted. */
  @Column({ name: 'del_flag', type: 'varchar', length: 1, ...ascii })
  delFlag!: string;
}

/** Who made and who last changed a row, and when, as views show it. */
export const STAMPS = ['createBy', 'createTime', 'updateBy', 'updateTime'] as const;

/** For a change of the row by something else, such as a move of what is above it. */
export const RAISED = { revision: () => 'revision + 1' } as const;

/** The revision of a new row. */
export const FIRST_REVISION = 0;

type Created = Pick<Stamped, keyof Stamped>;
type Touched = Pick<Stamped, 'updateBy'> & { readonly updateTime: Date } & typeof RAISED;

/** The audit values of new and of changed rows. Made while the lock is held, so that times follow the order of commits. */
export class AuditStamp {
  constructor(
    private readonly username: string,
    readonly now: Date,
  ) {}

  created(): Created {
    return {
      createBy: this.username,
      createTime: this.now,
      updateBy: '',
      updateTime: null,
      revision: FIRST_REVISION,
    };
  }

  touched(): Touched {
    return { updateBy: this.username, updateTime: this.now, ...RAISED };
  }
}
