import { Settings1763164800010 } from './1763164800010-baseline';
import { LongerUnitResults1763164800013 } from './1763164800013-longer-unit-results';
import { DropDerivedTables1763164800015 } from './1763164800015-drop-derived-tables';
import { Journal1763164800016 } from './1763164800016-journal';
import { Subscriptions1763164800017 } from './1763164800017-subscriptions';
import { Quotas1763164800018 } from './1763164800018-quotas';
import { WebhookSecrets1763164800019 } from './1763164800019-webhook-secrets';
import { DeletedSubtrees1763164800021 } from './1763164800021-deleted-subtrees';
import { DropSettings1763164800022 } from './1763164800022-drop-settings';

/** The history of the library's tables, for every database; a host adds it to its own DataSource. */
export const migrations = [
  Settings1763164800010,
  LongerUnitResults1763164800013,
  DropDerivedTables1763164800015,
  Journal1763164800016,
  Subscriptions1763164800017,
  Quotas1763164800018,
  WebhookSecrets1763164800019,
  DeletedSubtrees1763164800021,
  DropSettings1763164800022,
];
