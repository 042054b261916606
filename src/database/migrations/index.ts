import { Tenants1763164800000 } from './1763164800000-tenants';
import { Depts1763164800001 } from './1763164800001-depts';
import { Accounts1763164800002 } from './1763164800002-accounts';
import { Units1763164800003 } from './1763164800003-units';
import { IdBlocks1763164800004 } from './1763164800004-id-blocks';
import { Sessions1763164800005 } from './1763164800005-sessions';

/** The one history of the schema, for both databases; a host adds it to its own DataSource. */
export const migrations = [
  Tenants1763164800000,
  Depts1763164800001,
  Accounts1763164800002,
  Units1763164800003,
  IdBlocks1763164800004,
  Sessions1763164800005,
];
