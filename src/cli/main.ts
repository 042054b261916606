#!/usr/bin/env node
import 'reflect-metadata';

/** Runs with the words after its name; gives the exit code. */
type Command = (args: string[]) => Promise<number> | number;

/** Loaded when they are asked for: a token needs no database, a doctor no HTTP. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  'user:add': async () => (await import('./user.commands.js')).userAddCommand,
  'user:password': async () => (await import('./user.commands.js')).userPasswordCommand,
  'tenant:list': async () => (await import('./tenant-list.command.js')).tenantListCommand,
  doctor: async () => (await import('./doctor.command.js')).doctorCommand,
  token: async () => (await import('./token.command.js')).tokenCommand,
  openapi: async () => (await import('./openapi.command.js')).openapiCommand,
};

const USAGE = `Usage: tenantry <command>
  user:add --user NAME [--tenant 000000] [--roles member] [--password-stdin]
  user:password --user NAME [--tenant 000000] [--password-stdin]
  tenant:list
  doctor [--repair]
  token [--tenant 000000] [--user admin] [--roles superadmin] [--minutes 30]
  openapi
Without --password-stdin a password is generated and printed.`;

async function main([name = '', ...args]: string[]): Promise<number> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!load) throw new Error(`There is no command '${name}'.`);
  const command = await load();
  return command(args);
}

main(process.argv.slice(2)).then(
  // Not before all is written: into a pipe that takes its time.
  (code) => process.stdout.write('', () => process.exit(code)),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    process.exit(2);
  },
);
