/** What belongs to a tenant of the example organisation. */
export interface DemoContent {
  /** Of the e-mail addresses. */
  readonly domain: string;
  /** `name leader, name leader …`, below the last department that is indented less. A third word disables it. */
  readonly depts: readonly string[];
  /** `username nickname department`; the first is the tenant's administrator. A fourth word: it manages what is below its department. */
  readonly accounts: readonly string[];
  readonly tenants?: readonly DemoTenant[];
}

export interface DemoTenant extends DemoContent {
  /** The body of a create request, but for the contact. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Very long, so that the example works for years. */
const PERIOD = { startTime: '2024-01-01', endTime: '2099-12-31' };

const SUZHOU: DemoTenant = {
  fields: {
    tenantName: '苏州精密零件',
    companyName: '苏州精密零件有限公司 (Suzhou Precision Parts)',
    packageBo: { menuIds: '1, 100, 101' },
    accountCount: 20,
    ...PERIOD,
  },
  domain: 'suzhou-parts.example',
  depts: [
    '总经理办公室 沈洁, 研发部 顾磊',
    '  设计组 顾磊, 试制组 陆鸣',
    '生产部 钱坤',
    '  数控班 金波, 热处理班 石峰',
    '销售部 范颖',
    '  华东区 范颖, 海外区 唐宁',
  ],
  accounts: ['shenjie 沈洁 总经理办公室', 'gulei 顾磊 设计组'],
};

const NINGBO: DemoTenant = {
  fields: {
    tenantName: '宁波港联物流',
    companyName: '宁波港联物流有限公司 (Ningbo Portlink Logistics)',
    packageBo: { menuIds: '1, 100' },
    accountCount: 20,
  },
  domain: 'portlink.example',
  depts: ['运营部 方圆', '  调度组 罗浩, 车队 丁伟', '仓储部 任杰', '  保税仓 任杰', '客服部 余琳'],
  accounts: ['fangyuan 方圆 运营部', 'luohao 罗浩 调度组'],
};

const HUADONG: DemoTenant = {
  fields: {
    tenantName: '华东制造集团',
    companyName: '华东制造集团有限公司 (East China Manufacturing)',
    packageBo: { menuIds: '1, 100, 101, 102, 103' },
    quotaBo: { enterpriseQuery: 5000, annualReportQuery: 500, riskReport: 100, merchant: -1 },
    ruleBo: { modelZr: '{"minYears":3}', catalogRw: 'overdue' },
    accountCount: 100,
    ...PERIOD,
  },
  domain: 'huadong.example',
  depts: [
    '总裁办公室 林静, 集团总部 陈立',
    '  法务合规部 高远, 财务中心 周红',
    '    会计核算部 秦芳, 资金管理部 许诺',
    '  人力资源中心 吴敏',
    '    招聘部 何欣',
    '生产制造中心 黄海',
    '  上海工厂 徐刚',
    '    质量检验部 苏雯, 一车间 马强',
    '      装配线A 朱军',
    '        早班组 胡明, 晚班组 郭涛',
    '      装配线B 曹亮',
    '    二车间 彭飞',
    '  无锡工厂 蒋勇',
    '    铸造车间 蔡斌, 机加工车间 潘磊',
    '旧厂搬迁办公室 邓超 disabled, 供应链中心 田丰',
    '  采购部 袁媛',
  ],
  accounts: ['chenli 陈立 集团总部', 'zhouhong 周红 财务中心', 'xugang 徐刚 上海工厂 manages'],
  tenants: [SUZHOU, NINGBO],
};

const YUNFAN_ONLINE: DemoTenant = {
  fields: {
    tenantName: '云帆电商',
    companyName: '云帆电子商务有限公司 (Yunfan Online)',
    packageBo: { menuIds: '1, 200' },
    accountCount: 10,
  },
  domain: 'online.yunfan.example',
  depts: ['线上运营部 韩梅', '  直播组 林芝', '客服部 白雪, 技术部 江川'],
  accounts: ['hanmei 韩梅 线上运营部', 'linzhi 林芝'],
};

const YUNFAN: DemoTenant = {
  fields: {
    tenantName: '云帆零售',
    companyName: '云帆零售股份有限公司 (Yunfan Retail)',
    packageBo: { menuIds: '1, 200, 201' },
  },
  domain: 'yunfan.example',
  depts: [
    '零售总部 叶兰',
    '  商品部 孟瑶, 市场部 董博',
    '    品牌组 夏雨, 会员组 姚远',
    '门店管理部 崔浩',
    '  杭州大区 魏然',
    '    西湖店 贺佳, 滨江店 龙飞',
    '  南京大区 段誉',
    '    新街口店 侯亮',
  ],
  accounts: ['yelan 叶兰 零售总部', 'hejia 贺佳 西湖店'],
  tenants: [YUNFAN_ONLINE],
};

export const DEMO_PLATFORM: DemoContent = {
  domain: 'platform.example',
  depts: [
    '平台运营中心 赵敏',
    '  客户成功部 孙丽, 技术支持部 郑凯, 产品研发部 王磊',
    '    后端组 冯宇, 前端组 程曦',
  ],
  accounts: ['zhaomin 赵敏 平台运营中心', 'sunli 孙丽 客户成功部'],
  tenants: [HUADONG, YUNFAN],
};
