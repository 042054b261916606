import { Command, Option } from 'commander';
import { version } from '../config/version';
import { PLATFORM_TENANT } from '../../tenancy/tenant-code';
import { minutes, roleList, tenantCode, userName } from './values';

/** Runs with the options of its command; gives the exit code. */
type Run<T> = (options: T) => Promise<number> | number;

const EXIT_CODES = `
Exit codes: 0 done; 1 refused, failed, or (doctor) something is wrong; 2 the command line is invalid.
Settings come from the environment and from .env, as those of the service do.`;

const tenant = () =>
  new Option('--tenant <code>', 'code of the tenant').argParser(tenantCode).default(PLATFORM_TENANT);
const user = () => new Option('--user <name>', 'user name').argParser(userName);
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

  const command = (name: string, description: string, example: string): Command =>
    program
      .command(name)
      .description(description)
      .addHelpText('after', `\nExample:\n  ${example}`)
      .showHelpAfterError(`Run: tenantry ${name} --help`)
      .allowExcessArguments()
      .hook('preAction', refuseArguments);

  command('demo', 'Fill an empty database with an example organisation.', 'tenantry demo')
    .option('--password <text>', 'password of its accounts, 8 to 128 characters (default: generated)')
    .action(running(async () => (await import('./demo.command.js')).demoCommand));

  command('user:add', 'Add an account.', 'tenantry user:add --user lina --tenant 100001 --roles tenant_admin')
    .addOption(user().makeOptionMandatory())
    .addOption(tenant())
    .addOption(
      new Option('--roles <list>', 'roles, with commas between them')
        .argParser(roleList)
        .default(['member'], 'member'),
    )
    .addOption(passwordStdin())
    .action(running(async () => (await import('./user.commands.js')).userAddCommand));

  command(
    'user:password',
    'Set the password of an account.',
    'tenantry user:password --user admin --password-stdin < password.txt',
  )
    .addOption(user().makeOptionMandatory())
    .addOption(tenant())
    .addOption(passwordStdin())
    .action(running(async () => (await import('./user.commands.js')).userPasswordCommand));

  command('tenant:list', 'List the tenants as a tree, with their state.', 'tenantry tenant:list').action(
    running(async () => (await import('./inspect.commands.js')).tenantListCommand),
  );

  command('doctor', 'Check that the database is sound.', 'tenantry doctor --repair')
    .option('--repair', 'rebuild paths from parents', false)
    .action(running(async () => (await import('./inspect.commands.js')).doctorCommand));

  command(
    'token',
    'Print an access token, for trying things out.',
    'tenantry token --tenant 100001 --minutes 5',
  )
    .addOption(tenant())
    .addOption(user().default('admin'))
    .addOption(
      new Option(
        '--roles <list>',
        'roles, with commas between them (default: the highest of the tenant)',
      ).argParser(roleList),
    )
    .addOption(new Option('--minutes <number>', 'how long it is valid').argParser(minutes).default(30))
    .action(running(async () => (await import('./token.command.js')).tokenCommand));

  command('openapi', 'Print the OpenAPI document, as YAML.', 'tenantry openapi > openapi.yaml').action(
    running(async () => (await import('./openapi.command.js')).openapiCommand),
  );
  return program;
}

function running<T>(load: () => Promise<Run<T>>): (options: T) => Promise<void> {
  return async (options) => {
    const run = await load();
    process.exitCode = await run(options);
  };
}

/** No command takes arguments beside its options; Commander itself would not name the one that is too many. */
function refuseArguments(_: Command, command: Command): void {
  const [first] = command.args;
  if (first !== undefined) command.error(`error: unexpected argument '${first}'`);
}
