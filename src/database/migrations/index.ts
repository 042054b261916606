import { Tenants1763164800000 } from './1763164800000-tenants';
import { Depts1763164800001 } from './1763164800001-depts';
import { Accounts1763164800002 } from './1763164800002-accounts';
import { Units1763164800003 } from './1763164800003-units';
import { IdBlocks1763164800004 } from './1763164800004-id-blocks';
import { Sessions1763164800005 } from './1763164800005-sessions';
import { ListIndexes1763164800006 } from './1763164800006-list-indexes';
import { Revisions1763164800007 } from './1763164800007-revisions';
import { UnitAnswers1763164800008 } from './1763164800008-unit-answers';
import { DeptNames1763164800009 } from './1763164800009-dept-names';
import { Settings1763164800010 } from './1763164800010-settings';
import { FailedSignIns1763164800011 } from './1763164800011-failed-sign-ins';
import { UsernameKeys1763164800012 } from './1763164800012-username-keys';
import { LongerUnitResults1763164800013 } from './1763164800013-longer-unit-results';
import { DropDerivedTables1763164800015 } from './1763164800015-drop-derived-tables';

/** The one history of the schema, for both databases; a host adds it to its own DataSource. */
export const migrations = [
  Tenants1763164800000,
  Depts1763164800001,
  Accounts1763164800002,
  Units1763164800003,
  IdBlocks1763164800004,
  Sessions1763164800005,
  ListIndexes1763164800006,
  Revisions1763164800007,
  UnitAnswers1763164800008,
  DeptNames1763164800009,
  Settings1763164800010,
  FailedSignIns1763164800011,
  UsernameKeys1763164800012,
  LongerUnitResults1763164800013,
  DropDerivedTables1763164800015,
];
