import { Command, Option } from 'commander';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { version } from '../config/version';
import { loadService } from '../load-service';
import type * as ServeFile from '../serve';
import type * as AdoptFile from './adopt.command';
import type * as DemoFile from './demo.command';
import type * as InspectFile from './inspect.commands';
import type * as KeyFile from './key.commands';
import type * as MigrateFile from './migrate.command';
import type * as OpenapiFile from './openapi.command';
import type * as TokenFile from './token.command';
import type * as UserFile from './user.commands';
import { days, deptIdList, keyName, minutes, nameList, roleList, tenantCode, userName } from './values';

/** Loads the code of a command, which runs with its options and gives the exit code. */
type Load = () => (options: never) => Promise<number> | number;

const EXIT_CODES = `
Exit codes: 0 done; 1 refused, failed, or (doctor) something is wrong; 2 the command line is invalid.
Settings come from the environment and from .env, as those of the service do.`;

const tenant = () =>
  new Option('--tenant <code>', 'code of the tenant').argParser(tenantCode).default(PLATFORM_TENANT);
const user = () => new Option('--user <name>', 'user name').argParser(userName);
const key = () => new Option('--name <name>', 'name of the key').argParser(keyName).makeOptionMandatory();
const roles = (more = '') =>
  new Option('--roles <list>', `roles, with commas between them${more}`).argParser(roleList);
const managedDepts = () =>
  new Option('--managed-depts <ids>', 'departments that a dept_admin manages').argParser(deptIdList);
const passwordStdin = () =>
  new Option('--password-stdin', 'read the password from standard input instead of generating one');

/** All commands. The help comes from here; a command's code is loaded when it runs. */
export function createProgram(): Command {
  const program = new Command('tenantry')
    .description('Commands for the operator of a Tenantry service.')
    .version(version)
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError('Run: tenantry --help')
    .exitOverride();

  const command = (name: string, description: string, example: string, load: Load): Command =>
    program
      .command(name)
      .description(description)
      .addHelpText('after', `\nExample:\n  tenantry ${name}${example}`)
      .showHelpAfterError(`Run: tenantry ${name} --help`)
      .allowExcessArguments()
      .hook('preAction', refuseArguments)
      .action(async (options: object) => {
        const run = loadService(`tenantry ${name}`, load);
        process.exitCode = await run(options as never);
      });

  const serve = () => (require('../serve') as typeof ServeFile).serve;
  command('serve', 'Run the service until it is stopped.', '', serve);

  const migrate = () => (require('./migrate.command') as typeof MigrateFile).migrateCommand;
  command('migrate', 'Bring the database up to date.', '', migrate).option(
    '--stopped',
    'no replica of an older version is running: run migrations that it could not bear, too',
    false,
  );

  const demo = () => (require('./demo.command') as typeof DemoFile).demoCommand;
  command('demo', 'Fill an empty database with an example organisation.', '', demo).option(
    '--password <text>',
    'password of its accounts, 8 to 128 characters (default: generated)',
  );

  const userAdd = () => (require('./user.commands') as typeof UserFile).userAddCommand;
  command('user:add', 'Add an account.', ' --user lina --tenant 100001 --roles tenant_admin', userAdd)
    .addOption(user().makeOptionMandatory())
    .addOption(tenant())
    .addOption(roles().default(['member'], 'member'))
    .addOption(managedDepts())
    .addOption(passwordStdin());

  const userPassword = () => (require('./user.commands') as typeof UserFile).userPasswordCommand;
  const fromFile = ' --user admin --password-stdin < password.txt';
  command('user:password', 'Set the password of an account.', fromFile, userPassword)
    .addOption(user().makeOptionMandatory())
    .addOption(tenant())
    .addOption(passwordStdin());

  const userUnlock = () => (require('./user.commands') as typeof UserFile).userUnlockCommand;
  command('user:unlock', 'Lift the lock-out of an account.', ' --user lina', userUnlock)
    .addOption(user().makeOptionMandatory())
    .addOption(tenant());

  const keyAdd = () => (require('./key.commands') as typeof KeyFile).keyAddCommand;
  const forExport =
    ' --name nightly-export --tenant 100001 --roles tenant_admin --permissions dept:read,change:read';
  command('key:add', 'Add a key for a program, and print its secret.', forExport, keyAdd)
    .addOption(key())
    .addOption(tenant())
    .addOption(roles().default(['member'], 'member'))
    .addOption(
      new Option('--permissions <list>', 'permissions, with commas between them')
        .argParser(nameList)
        .makeOptionMandatory(),
    )
    .addOption(managedDepts())
    .addOption(new Option('--days <number>', 'how long it is good (default: no end)').argParser(days));

  const keyList = () => (require('./key.commands') as typeof KeyFile).keyListCommand;
  command('key:list', 'List the keys of a tenant.', ' --tenant 100001', keyList).addOption(tenant());

  const keyDelete = () => (require('./key.commands') as typeof KeyFile).keyDeleteCommand;
  command('key:delete', 'Delete a key.', ' --name nightly-export --tenant 100001', keyDelete)
    .addOption(key())
    .addOption(tenant());

  const tenantList = () => (require('./inspect.commands') as typeof InspectFile).tenantListCommand;
  command('tenant:list', 'List the tenants as a tree, with their state.', '', tenantList);

  const doctor = () => (require('./inspect.commands') as typeof InspectFile).doctorCommand;
  command('doctor', 'Check that the database is sound.', ' --repair', doctor).option(
    '--repair',
    'rebuild paths from parents, and counters of quotas from the ledger',
    false,
  );

  const adopt = () => (require('./adopt.command') as typeof AdoptFile).adoptCommand;
  const fromTable = ' --tenant 100001 --table sys_dept --dry-run';
  command('adopt', 'Take over the departments of another system.', fromTable, adopt)
    .addOption(tenant())
    .addOption(new Option('--table <name>', 'table or view of the same database').conflicts('file'))
    .addOption(new Option('--where <condition>', 'which rows of the table, as SQL').conflicts('file'))
    .option('--file <path>', 'file of these departments, .csv or .ndjson')
    .option('--map <list>', 'names of columns: deptName=title,parentId=parent')
    .option('--dry-run', 'check the departments, and write nothing', false);

  const token = () => (require('./token.command') as typeof TokenFile).tokenCommand;
  command('token', 'Print an access token, for trying things out.', ' --tenant 100001 --minutes 5', token)
    .addOption(tenant())
    .addOption(user().default('admin'))
    .addOption(roles(' (default: the highest of the tenant)'))
    .addOption(new Option('--scope <names>', 'permissions, with spaces between them').argParser(nameList))
    .addOption(managedDepts())
    .addOption(new Option('--minutes <number>', 'how long it is valid').argParser(minutes).default(30));

  const openapi = () => (require('./openapi.command') as typeof OpenapiFile).openapiCommand;
  command('openapi', 'Print the OpenAPI document, as YAML.', ' > openapi.yaml', openapi);
  return program;
}

/** No command takes arguments beside its options; Commander itself would not name the one that is too many. */
function refuseArguments(_: Command, command: Command): void {
  const [first] = command.args;
  if (first !== undefined) command.error(`error: unexpected argument '${first}'`);
}
