export const LANGUAGES = { zh: '中文', en: 'English' } as const;
export type Language = keyof typeof LANGUAGES;
const STORED = 'tenantry.language';

function initial(): Language {
  const kept = localStorage.getItem(STORED) ?? navigator.languages[0] ?? '';
  return kept.startsWith('zh') ? 'zh' : 'en';
}

export let language = initial();

export function chooseLanguage(wanted: Language): Language {
  localStorage.setItem(STORED, wanted);
  document.documentElement.lang = wanted;
  return (language = wanted);
}

/** What the page says, in Chinese and English. */
const WORDS = {
  tagline: ['每家公司的组织架构，一处可见', 'The organisation of every company, in one place'],
  signIn: ['登录', 'Sign in'],
  signOut: ['退出登录', 'Sign out'],
  platformIfEmpty: ['留空即平台', 'Empty: the platform'],
  tenantId: ['租户编码', 'Tenant code'],
  token: ['访问令牌或密钥', 'Access token or key'],
  username: ['账号', 'User name'],
  password: ['密码', 'Password'],
  useToken: ['使用令牌或密钥', 'Use a token or a key'],
  usePassword: ['使用账号密码', 'Use a password'],
  demoAccounts: ['演示账号', 'Accounts of the demo'],
  sessionEnded: ['登录已过期，请重新登录', 'Your session has ended; sign in again'],
  list: ['列表', 'List'],
  departments: ['部门', 'Departments'],
  chart: ['架构图', 'Chart'],
  compare: ['对比', 'Compare'],
  deletedDepts: ['已删除', 'Deleted'],
  tenants: ['租户', 'Tenants'],
  apiDocs: ['接口', 'API'],
  search: ['搜索名称', 'Search by name'],
  noMatch: ['没有匹配的部门', 'No department matches'],
  noDepts: ['还没有部门', 'There are no departments yet'],
  loading: ['加载中…', 'Loading…'],
  retryAfter: ['请在 {seconds} 秒后重试', 'Try again in {seconds} s'],
  openAll: ['展开全部', 'Open all'],
  closeAll: ['全部收起', 'Close all'],
  truncated: ['部门太多，下级请逐层展开', 'There are too many to open all: open the others one by one'],
  choose: ['从列表中选择，查看详情', 'Choose one from the list to see its details'],
  details: ['详情', 'Details'],
  deptName: ['名称', 'Name'],
  parentId: ['上级', 'Above it'],
  leader: ['负责人', 'Leader'],
  phone: ['电话', 'Phone'],
  email: ['邮箱', 'E-mail'],
  status: ['状态', 'Status'],
  enabled: ['正常', 'Enabled'],
  disabled: ['停用', 'Disabled'],
  orderNum: ['排序', 'Order'],
  topLevel: ['顶级', 'Top level'],
  never: ['从未', 'Never'],
  byAt: ['{by}，{time}', '{by}, {time}'],
  nothingOffered: [
    '此账号或密钥在这里没有可用的权限',
    'There is nothing here that this account or key may see',
  ],
  none: ['无', 'None'],
  create: ['新建部门', 'New department'],
  createBelow: ['新建下级部门', 'New department below'],
  edit: ['编辑', 'Edit'],
  save: ['保存', 'Save'],
  cancel: ['取消', 'Cancel'],
  moveTo: ['移动到…', 'Move to…'],
  movedMeanwhile: ['其他人刚刚移动了这个部门', 'Somebody else has just moved this department'],
  tooManyToOrder: ['同级部门过多，请用排序号排序', 'There are too many siblings: use the order number'],
  moveHere: ['移动到这里', 'Move it here'],
  moveTitle: ['将“{name}”移动到', 'Move “{name}” below'],
  moveUp: ['上移', 'Move up'],
  moveDown: ['下移', 'Move down'],
  delete: ['删除', 'Delete'],
  deleteTitle: ['删除“{name}”？', 'Delete “{name}”?'],
  deleteSubtree: ['连同所有下级部门', 'With all departments below it'],
  restore: ['恢复', 'Restore'],
  noDeleted: ['没有可恢复的部门', 'There is nothing to restore'],
  history: ['变更历史', 'History'],
  noHistory: ['没有记录', 'Nothing is recorded'],
  created: ['新建', 'Created'],
  updated: ['修改', 'Changed'],
  moved: ['移动', 'Moved'],
  renamed: ['重命名', 'Renamed'],
  changed: ['修改', 'Changed'],
  deleted: ['删除', 'Deleted'],
  restored: ['恢复', 'Restored'],
  from: ['从', 'From'],
  to: ['到（留空即现在）', 'To (empty: now)'],
  show: ['查看', 'Show'],
  marked: ['已标出所选时间内的变化', 'What has changed between the two times is coloured'],
  clear: ['清除', 'Clear'],
  asOf: ['查看日期', 'As of'],
  asOfNotice: ['{time} 的组织架构，不能修改', 'The organisation as of {time}; it cannot be changed'],
  noChanges: ['这段时间没有变化', 'Nothing has changed in this time'],
  conflict: [
    '其他人刚刚修改了这个部门（现在的值 → 您的值）',
    'Somebody else has just changed it (as it is now → yours)',
  ],
  overwrite: ['仍然保存我的修改', 'Save mine all the same'],
  zoomIn: ['放大', 'Zoom in'],
  zoomOut: ['缩小', 'Zoom out'],
  fit: ['适应窗口', 'Fit'],
  saveSvg: ['保存为 SVG', 'Save as SVG'],
  print: ['打印', 'Print'],
  fold: ['收起', 'Fold'],
  unfold: ['展开', 'Unfold'],
  live: ['实时', 'Live'],
  tenantName: ['名称', 'Name'],
  companyName: ['公司', 'Company'],
  contactUserName: ['联系人', 'Contact'],
  contactPhone: ['联系电话', 'Phone of the contact'],
  startTime: ['首日', 'First day'],
  endTime: ['末日', 'Last day'],
  accountCount: ['账号上限（-1 为不限）', 'Account limit (-1: unlimited)'],
  state: ['服务状态', 'State'],
  ACTIVE: ['服务中', 'Active'],
  DISABLED: ['已停用', 'Disabled'],
  NOT_STARTED: ['未开始', 'Not started'],
  EXPIRED: ['已到期', 'Expired'],
  daysMore: ['剩 {days} 天', '{days} days left'],
  unlimited: ['不限', 'unlimited'],
  period: ['服务期', 'Service period'],
  open: ['不限', 'open'],
  accounts: ['账号', 'Accounts'],
  quotas: ['额度', 'Quotas'],
  quotaUse: ['{used} / {total}', '{used} of {total}'],
  enterpriseQuery: ['企业查询', 'Enterprise queries'],
  annualReportQuery: ['年报查询', 'Annual report queries'],
  chainReport: ['产业链报告', 'Chain reports'],
  businessReport: ['经营报告', 'Business reports'],
  riskReport: ['风险报告', 'Risk reports'],
  merchant: ['商户', 'Merchants'],
  menuIds: ['套餐菜单 ID', 'Menus of the package'],
  rules: ['规则', 'Rules'],
  createTenant: ['新建下级租户', 'New tenant below'],
  offline: ['无法连接服务', 'The service cannot be reached'],
} as const satisfies Readonly<Record<string, readonly [zh: string, en: string]>>;

export type Word = keyof typeof WORDS;

/** A text in the language of the page, with values in the place of `{names}`. */
export function t(word: Word, values: Readonly<Record<string, string | number>> = {}): string {
  const text: string = WORDS[word][language === 'zh' ? 0 : 1];
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

export function isWord(name: string): name is Word {
  return Object.hasOwn(WORDS, name);
}
