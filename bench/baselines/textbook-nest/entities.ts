import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

abstract class Row {
  @Column({ name: 'tenant_id', type: 'varchar' })
  tenantId!: string;
  @Column({ name: 'status', type: 'varchar' })
  status!: string;
  @Column({ name: 'del_flag', type: 'varchar' })
  delFlag!: string;
  @Column({ name: 'create_by', type: 'varchar' })
  createBy!: string;
  @Column({ name: 'create_time', type: 'datetime' })
  createTime!: Date;
  @Column({ name: 'update_by', type: 'varchar' })
  updateBy!: string;
  @Column({ name: 'update_time', type: 'datetime', nullable: true })
  updateTime!: Date | null;
  @Column({ name: 'revision', type: 'int' })
  revision!: number;
}

@Entity('tenantry_dept')
export class Dept extends Row {
  @PrimaryGeneratedColumn({ name: 'dept_id', type: 'bigint' })
  deptId!: number;
  @Column({ name: 'parent_id', type: 'bigint' })
  parentId!: number;
  @Column({ name: 'ancestors', type: 'varchar' })
  ancestors!: string;
  @Column({ name: 'depth', type: 'int' })
  depth!: number;
  @Column({ name: 'dept_name', type: 'varchar' })
  deptName!: string;
  @Column({ name: 'order_num', type: 'int' })
  orderNum!: number;
  @Column({ name: 'leader', type: 'varchar', nullable: true })
  leader!: string | null;
  @Column({ name: 'phone', type: 'varchar', nullable: true })
  phone!: string | null;
  @Column({ name: 'email', type: 'varchar', nullable: true })
  email!: string | null;
}

@Entity('tenantry_account')
export class Account extends Row {
  @PrimaryColumn({ name: 'user_id', type: 'bigint' })
  userId!: number;
  @Column({ name: 'username', type: 'varchar' })
  username!: string;
  @Column({ name: 'nickname', type: 'varchar', nullable: true })
  nickname!: string | null;
  @Column({ name: 'dept_id', type: 'bigint', nullable: true })
  deptId!: number | null;
  @Column({ name: 'email', type: 'varchar', nullable: true })
  email!: string | null;
  @Column({ name: 'phone', type: 'varchar', nullable: true })
  phone!: string | null;
  @Column({ name: 'roles', type: 'varchar' })
  roles!: string;
  @Column({ name: 'managed_dept_ids', type: 'varchar', nullable: true })
  managedDeptIds!: string | null;
  @Column({ name: 'data_scope', type: 'varchar' })
  dataScope!: string;
  @Column({ name: 'scope_dept_ids', type: 'varchar', nullable: true })
  scopeDeptIds!: string | null;
}

@Entity('tenantry_tenant')
export class Tenant extends Row {
  @PrimaryColumn({ type: 'varchar' })
  id!: string;
  @Column({ name: 'tenant_name', type: 'varchar' })
  tenantName!: string;
  @Column({ name: 'tenant_parent', type: 'varchar', nullable: true })
  tenantParent!: string | null;
  @Column({ name: 'start_time', type: 'varchar', nullable: true })
  startTime!: string | null;
  @Column({ name: 'end_time', type: 'varchar', nullable: true })
  endTime!: string | null;
  @Column({ name: 'contact_user_name', type: 'varchar', nullable: true })
  contactUserName!: string | null;
  @Column({ name: 'contact_phone', type: 'varchar', nullable: true })
  contactPhone!: string | null;
  @Column({ name: 'company_name', type: 'varchar', nullable: true })
  companyName!: string | null;
  @Column({ name: 'account_count', type: 'int' })
  accountCount!: number;
  @Column({ name: 'menu_ids', type: 'varchar' })
  menuIds!: string;
  @Column({ name: 'quota_enterprise_query', type: 'int' })
  enterpriseQuery!: number;
  @Column({ name: 'quota_annual_report_query', type: 'int' })
  annualReportQuery!: number;
  @Column({ name: 'quota_chain_report', type: 'int' })
  chainReport!: number;
  @Column({ name: 'quota_business_report', type: 'int' })
  businessReport!: number;
  @Column({ name: 'quota_risk_report', type: 'int' })
  riskReport!: number;
  @Column({ name: 'quota_merchant', type: 'int' })
  merchant!: number;
  @Column({ name: 'rule_model_zr', type: 'varchar', nullable: true })
  modelZr!: string | null;
  @Column({ name: 'rule_model_pf', type: 'varchar', nullable: true })
  modelPf!: string | null;
  @Column({ name: 'rule_model_ed', type: 'varchar', nullable: true })
  modelEd!: string | null;
  @Column({ name: 'rule_catalog_zr', type: 'varchar', nullable: true })
  catalogZr!: string | null;
  @Column({ name: 'rule_catalog_pf', type: 'varchar', nullable: true })
  catalogPf!: string | null;
  @Column({ name: 'rule_catalog_ed', type: 'varchar', nullable: true })
  catalogEd!: string | null;
  @Column({ name: 'rule_catalog_rw', type: 'varchar', nullable: true })
  catalogRw!: string | null;
}
