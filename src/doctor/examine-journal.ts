import type { ChangedFields, JournalFields } from '../journal/change-log';
import type { DoctorRepository, LastEntry } from './doctor.repository';

/** Resources that are not as their last entry in the journal says. */
export async function examineJournal(database: DoctorRepository): Promise<string[]> {
  const textOf = ({ kind, resourceId, tenantId, version, seq }: LastEntry): string =>
    `${database.nounOf(kind)} ${resourceId}: is not as its last entry in the journal says (${tenantId} ${version}.${seq})`;
  const findings: string[] = [];
  for (let last: LastEntry | undefined; ;) {
    const entries = await database.findLastEntries(last);
    const suspects = await differing(database, entries);
    // A unit may have committed between the two reads; its entry is another one then.
    const texts = new Set(suspects.map(textOf));
    const now = suspects.length > 0 ? await database.findLastEntriesOf(suspects) : [];
    const still = now.filter((entry) => texts.has(textOf(entry)));
    findings.push(...(await differing(database, still)).map(textOf));
    last = entries.at(-1);
    if (!last) return findings;
  }
}

async function differing(database: DoctorRepository, entries: readonly LastEntry[]): Promise<LastEntry[]> {
  const rows = await database.findJournalled(entries);
  return entries.filter((entry) => {
    const row = rows.get(`${entry.kind} ${entry.resourceId}`);
    const isDeleted = entry.operation === 'deleted';
    if (row?.isDeleted !== isDeleted) return true;
    const { after } = JSON.parse(entry.fields) as ChangedFields;
    return !isDeleted && !hasFields(row.fields, after);
  });
}

function hasFields(row: JournalFields, after: JournalFields | null): boolean {
  return Object.entries(after ?? {}).every(
    ([name, value]) => JSON.stringify(row[name]) === JSON.stringify(value),
  );
}
