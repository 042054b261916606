import { account, dept, disabledDept, type DemoContent, type DemoTenant } from './demo-shapes';

const SUZHOU: DemoTenant = {
  fields: {
    tenantName: '苏州精密零件',
    companyName: '苏州精密零件有限公司 (Suzhou Precision Parts)',
    startTime: '2024-01-01',
    endTime: '2099-12-31',
    contactUserName: '沈洁',
    contactPhone: '13800010003',
    accountCount: 20,
    packageBo: { menuIds: '1, 100, 101' },
    quotaBo: { enterpriseQuery: 200, businessReport: 20 },
  },
  domain: 'suzhou-parts.example',
  depts: [
    dept('总经理办公室', '沈洁'),
    dept('研发部', '顾磊', dept('设计组', '顾磊'), dept('试制组', '陆鸣')),
    dept('生产部', '钱坤', dept('数控班', '金波'), dept('热处理班', '石峰')),
    dept('销售部', '范颖', dept('华东区', '范颖'), dept('海外区', '唐宁')),
  ],
  accounts: [
    account('tenant_admin', 'shenjie', '沈洁', '总经理办公室'),
    account('member', 'gulei', '顾磊', '设计组'),
  ],
  tenants: [],
};

const NINGBO: DemoTenant = {
  fields: {
    tenantName: '宁波港联物流',
    companyName: '宁波港联物流有限公司 (Ningbo Portlink Logistics)',
    startTime: '2024-01-01',
    contactUserName: '方圆',
    contactPhone: '13800010004',
    accountCount: 20,
    packageBo: { menuIds: '1, 100' },
  },
  domain: 'portlink.example',
  depts: [
    dept('运营部', '方圆', dept('调度组', '罗浩'), dept('车队', '丁伟')),
    dept('仓储部', '任杰', dept('保税仓', '任杰')),
    dept('客服部', '余琳'),
  ],
  accounts: [
    account('tenant_admin', 'fangyuan', '方圆', '运营部'),
    account('member', 'luohao', '罗浩', '调度组'),
  ],
  tenants: [],
};

const HUADONG: DemoTenant = {
  fields: {
    tenantName: '华东制造集团',
    companyName: '华东制造集团有限公司 (East China Manufacturing)',
    startTime: '2024-01-01',
    endTime: '2099-12-31',
    contactUserName: '陈立',
    contactPhone: '13800010001',
    accountCount: 100,
    packageBo: { menuIds: '1, 100, 101, 102, 103' },
    quotaBo: {
      ...{ enterpriseQuery: 5000, annualReportQuery: 500, chainReport: 200 },
      ...{ businessReport: 200, riskReport: 100, merchant: -1 },
    },
    ruleBo: {
      modelZr: '{"minYears":3}',
      modelPf: '{"weights":{"credit":0.6,"tax":0.4}}',
      catalogRw: 'overdue',
    },
  },
  domain: 'huadong.example',
  depts: [
    dept(
      '集团总部',
      '陈立',
      dept('总裁办公室', '林静'),
      dept('财务中心', '周红', dept('会计核算部', '秦芳'), dept('资金管理部', '许诺')),
      dept('人力资源中心', '吴敏', dept('招聘部', '何欣')),
      dept('法务合规部', '高远'),
    ),
    dept(
      '生产制造中心',
      '黄海',
      dept(
        '上海工厂',
        '徐刚',
        dept(
          '一车间',
          '马强',
          dept('装配线A', '朱军', dept('早班组', '胡明'), dept('晚班组', '郭涛')),
          dept('装配线B', '曹亮'),
        ),
        dept('二车间', '彭飞'),
        dept('质量检验部', '苏雯'),
      ),
      dept('无锡工厂', '蒋勇', dept('铸造车间', '蔡斌'), dept('机加工车间', '潘磊')),
    ),
    dept('供应链中心', '田丰', dept('采购部', '袁媛')),
    disabledDept('旧厂搬迁办公室', '邓超'),
  ],
  accounts: [
    account('tenant_admin', 'chenli', '陈立', '集团总部'),
    account('member', 'zhouhong', '周红', '财务中心'),
    account('member', 'xugang', '徐刚', '上海工厂'),
  ],
  tenants: [SUZHOU, NINGBO],
};

const YUNFAN_ONLINE: DemoTenant = {
  fields: {
    tenantName: '云帆电商',
    companyName: '云帆电子商务有限公司 (Yunfan Online)',
    startTime: '2024-01-01',
    endTime: '2099-12-31',
    contactUserName: '韩梅',
    contactPhone: '13800010006',
    accountCount: 10,
    packageBo: { menuIds: '1, 200' },
  },
  domain: 'online.yunfan.example',
  depts: [dept('线上运营部', '韩梅', dept('直播组', '林芝')), dept('客服部', '白雪'), dept('技术部', '江川')],
  accounts: [account('tenant_admin', 'hanmei', '韩梅', '线上运营部'), account('member', 'linzhi', '林芝')],
  tenants: [],
};

const YUNFAN: DemoTenant = {
  fields: {
    tenantName: '云帆零售',
    companyName: '云帆零售股份有限公司 (Yunfan Retail)',
    contactUserName: '叶兰',
    contactPhone: '13800010005',
    accountCount: -1,
    packageBo: { menuIds: '1, 200, 201' },
    quotaBo: { enterpriseQuery: 1000, merchant: 300 },
  },
  domain: 'yunfan.example',
  depts: [
    dept(
      '零售总部',
      '叶兰',
      dept('商品部', '孟瑶'),
      dept('市场部', '董博', dept('品牌组', '夏雨'), dept('会员组', '姚远')),
    ),
    dept(
      '门店管理部',
      '崔浩',
      dept('杭州大区', '魏然', dept('西湖店', '贺佳'), dept('滨江店', '龙飞')),
      dept('南京大区', '段誉', dept('新街口店', '侯亮')),
    ),
  ],
  accounts: [
    account('tenant_admin', 'yelan', '叶兰', '零售总部'),
    account('member', 'hejia', '贺佳', '西湖店'),
  ],
  tenants: [YUNFAN_ONLINE],
};

/** The platform's own departments and accounts, and the tenants below it. Service periods are open or very long. */
export const DEMO_PLATFORM: DemoContent = {
  domain: 'platform.example',
  depts: [
    dept(
      '平台运营中心',
      '赵敏',
      dept('客户成功部', '孙丽'),
      dept('技术支持部', '郑凯'),
      dept('产品研发部', '王磊', dept('后端组', '冯宇'), dept('前端组', '程曦')),
    ),
  ],
  accounts: [
    account('tenant_admin', 'zhaomin', '赵敏', '平台运营中心'),
    account('member', 'sunli', '孙丽', '客户成功部'),
  ],
  tenants: [HUADONG, YUNFAN],
};
