import type { Account, Dept, Tenant } from './entities';

const format = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Asia/Shanghai',
  dateStyle: 'short',
  timeStyle: 'medium',
});

function timesOf({ createTime, updateTime }: Pick<Dept, 'createTime' | 'updateTime'>) {
  return { createTime: format.format(createTime), updateTime: updateTime && format.format(updateTime) };
}

export function deptView({ depth: _, revision: __, ...row }: Dept): object {
  return { ...row, ...timesOf(row) };
}

export function accountView({ revision: _, delFlag: __, ...row }: Account): object {
  const idsIn = (stored: string | null): number[] => stored?.split(',').map(Number) ?? [];
  const lists = { managedDeptIds: idsIn(row.managedDeptIds), scopeDeptIds: idsIn(row.scopeDeptIds) };
  return { ...row, ...timesOf(row), roles: row.roles.split(','), ...lists };
}

export function tenantView(row: Tenant): object {
  const { id, tenantId, tenantName, tenantParent, startTime, endTime, contactUserName, contactPhone } = row;
  const { companyName, status, accountCount, menuIds } = row;
  const { enterpriseQuery, annualReportQuery, chainReport, businessReport, riskReport, merchant } = row;
  const { modelZr, modelPf, modelEd, catalogZr, catalogPf, catalogEd, catalogRw } = row;
  return {
    ...{ id, tenantId, tenantName, tenantParent, startTime, endTime, contactUserName, contactPhone },
    ...{ companyName, status, accountCount, packageBo: { menuIds } },
    quotaBo: { enterpriseQuery, annualReportQuery, chainReport, businessReport, riskReport, merchant },
    ruleBo: { modelZr, modelPf, modelEd, catalogZr, catalogPf, catalogEd, catalogRw },
  };
}
