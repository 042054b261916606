import { Column } from 'typeorm';
import { ascii, text } from './columns';

/** State and audit columns that every resource of the contract has. */
export abstract class Audited {
  @Column({ type: 'varchar', length: 1, ...ascii })
  status!: string;

  /** `0` exists, `2` deleted. */
  @Column({ name: 'del_flag', type: 'varchar', length: 1, ...ascii })
  delFlag!: string;

  @Column({ name: 'create_by', type: 'varchar', length: 64, ...text })
  createBy!: string;

  @Column({ name: 'create_time', type: 'datetime', precision: 3 })
  createTime!: Date;

  @Column({ name: 'update_by', type: 'varchar', length: 64, ...text })
  updateBy!: string;

  @Column({ name: 'update_time', type: 'datetime', precision: 3, nullable: true })
  updateTime!: Date | null;
}

/** The columns that say who changed a row, and when. */
export type Touched = Pick<Audited, 'updateBy' | 'updateTime'>;

/** Who writes, and when: the audit values of new and of changed rows. */
export class AuditStamp {
  constructor(
    private readonly username: string,
    private readonly now: () => Date,
  ) {}

  created(): Pick<Audited, 'delFlag' | 'createBy' | 'createTime'> & Touched {
    return { delFlag: '0', createBy: this.username, createTime: this.now(), updateBy: '', updateTime: null };
  }

  touched(): Touched {
    return { updateBy: this.username, updateTime: this.now() };
  }
}
