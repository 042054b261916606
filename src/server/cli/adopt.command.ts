import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { DomainEvents } from '../../database/domain-events';
import { SilentMeter } from '../../database/meter';
import { UnitOfWork } from '../../database/unit-of-work';
import { DeptRepository } from '../../dept/dept.repository';
import {
  adoptedFrom,
  ADOPTED_FIELDS,
  idColumns,
  MAX_ADOPTED,
  MAX_PROBLEMS,
  refuseProblems,
  refuseUnknownColumns,
  type AdoptedDept,
  type ColumnNames,
} from '../../dept/transfer/adoption-plan';
import { DeptAdoption } from '../../dept/transfer/dept-adoption.service';
import { FORMATS } from '../../dept/transfer/file-format';
import { readFile } from '../../dept/transfer/read-file';
import { HttpErrors } from '../../errors/http.errors';
import { Refusal, type FieldProblem } from '../../errors/refusal';
import { RequestContext } from '../../tenancy/request-context';
import { NoUsers } from '../../tenancy/tenant-access';
import { SystemClock } from '../../time/clock';
import { ZonedTime } from '../../time/zoned-time';
import { loadDatabaseSettings } from '../config/environment';
import { print, UsageError } from './values';
import { readTable, toldRefusal, withDatabase } from './with-database';

interface AdoptOptions {
  readonly tenant: string;
  readonly table?: string;
  readonly where?: string;
  readonly file?: string;
  readonly map?: string;
  readonly dryRun: boolean;
}

const FILE_LIMITS = { bytes: 256 * 1024 * 1024, depts: MAX_ADOPTED, lines: 10 * MAX_ADOPTED };

/** Takes over the departments of a table or a file. Exit code 0: all of them are, or can be, adopted; 1: none is. */
export async function adoptCommand({ tenant, dryRun, ...source }: AdoptOptions): Promise<number> {
  const { table, where, file, map = '' } = source;
  if (table === undefined && file === undefined) throw new UsageError('Give --table or --file.');
  const names = columnNames(map);
  const { location, timeZone } = loadDatabaseSettings();
  try {
    const { adopted, leftOut } = await withDatabase(location, async (dataSource) => {
      const rows =
        table === undefined ? await readRows(file ?? '', names) : await readTable(dataSource, table, where);
      const clock = new SystemClock();
      const unitOfWork = new UnitOfWork(dataSource, new DomainEvents(), clock, new SilentMeter());
      const depts = new DeptRepository(unitOfWork, new NoUsers(), clock);
      const adoption = new DeptAdoption(depts, new ZonedTime(timeZone));
      const columns = new Set<string>();
      for (const row of rows) for (const column of Object.keys(row)) columns.add(column);
      if (rows.length > 0) refuseUnknownColumns([...columns], names);
      const all = rows.map((row) => adoptedFrom(row, names));
      return adoption.run(RequestContext.system(tenant), all, { dryRun });
    });
    print(`${adopted} departments ${dryRun ? 'can be' : 'were'} adopted, ${leftOut} deleted ones left out.`);
    return 0;
  } catch (error) {
    const { row, details } = error instanceof Refusal ? error : {};
    if (row !== HttpErrors.INVALID.row) throw toldRefusal(error, tenant, `Tenant '${tenant}'`);
    const problems = details?.fields ?? [];
    for (const problem of problems) print(`wrong     ${textOf(problem)}`);
    print(`Nothing was adopted: ${problems.length} problems found.`);
    return 1;
  }
}

/** Reads `deptName=title,parentId=parent`. */
function columnNames(typed: string): ColumnNames {
  const pairs = typed
    .split(',')
    .filter(Boolean)
    .map((pair) => pair.split('=').map((part) => part.trim()));
  for (const [field = '', column = ''] of pairs)
    if (!ADOPTED_FIELDS.includes(field as keyof AdoptedDept) || column === '')
      throw new UsageError(
        `--map: expected FIELD=COLUMN with commas between them; fields are ${ADOPTED_FIELDS.join(', ')}.`,
      );
  return Object.fromEntries(pairs) as ColumnNames;
}

type Row = Readonly<Record<string, unknown>>;

async function readRows(file: string, names: ColumnNames): Promise<readonly Row[]> {
  const format = FORMATS.find(({ fileName }) => extname(fileName) === extname(file).toLowerCase());
  if (!format) throw new UsageError('--file must end with .csv or .ndjson.');
  const kind = {
    key: idColumns(names),
    read: (_: number, values: Row) => values,
  };
  const options = { maxProblems: MAX_PROBLEMS, limits: FILE_LIMITS };
  const { lines, problems } = await readFile({ format, body: createReadStream(file) }, kind, options);
  refuseProblems(problems);
  return lines;
}

function textOf({ id, line, field, message: { en } }: FieldProblem): string {
  const subject = id === undefined ? (line === undefined ? '' : `line ${line}: `) : `department ${id}: `;
  return `${subject}${field === 'line' ? 'it' : field} ${en}`;
}
