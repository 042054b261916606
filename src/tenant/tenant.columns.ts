import { Column } from 'typeorm';
import { text } from '../database/columns';

/** The six totals that are read, and four keys that are only kept. */
export class QuotaColumns {
  @Column({ name: 'quota_enterprise_query', type: 'integer' })
  enterpriseQuery!: number;

  @Column({ name: 'quota_annual_report_query', type: 'integer' })
  annualReportQuery!: number;

  @Column({ name: 'quota_chain_report', type: 'integer' })
  chainReport!: number;

  @Column({ name: 'quota_business_report', type: 'integer' })
  businessReport!: number;

  @Column({ name: 'quota_risk_report', type: 'integer' })
  riskReport!: number;

  @Column({ name: 'quota_merchant', type: 'integer' })
  merchant!: number;

  @Column({ name: 'quota_risk_report_used', type: 'integer' })
  riskReportUsed!: number;

  @Column({ name: 'quota_zr', type: 'integer' })
  zr!: number;

  @Column({ name: 'quota_credit', type: 'integer' })
  credit!: number;

  @Column({ name: 'quota_pf', type: 'integer' })
  pf!: number;
}

/** Opaque texts: 64 KB each does not fit into MySQL's TEXT, by one byte. */
export class RuleColumns {
  @Column({ name: 'rule_model_zr', type: 'mediumtext', nullable: true, ...text })
  modelZr!: string | null;

  @Column({ name: 'rule_model_pf', type: 'mediumtext', nullable: true, ...text })
  modelPf!: string | null;

  @Column({ name: 'rule_model_ed', type: 'mediumtext', nullable: true, ...text })
  modelEd!: string | null;

  @Column({ name: 'rule_catalog_zr', type: 'mediumtext', nullable: true, ...text })
  catalogZr!: string | null;

  @Column({ name: 'rule_catalog_pf', type: 'mediumtext', nullable: true, ...text })
  catalogPf!: string | null;

  @Column({ name: 'rule_catalog_ed', type: 'mediumtext', nullable: true, ...text })
  catalogEd!: string | null;

  @Column({ name: 'rule_catalog_rw', type: 'mediumtext', nullable: true, ...text })
  catalogRw!: string | null;
}
