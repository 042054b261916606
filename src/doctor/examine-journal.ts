import type { ChangedFields, JournalFields } from '../journal/change-log';
import type { DoctorRepository, LastEntry } from './doctor.repository';

/** Resources that are not as their last entry in the journal says. */
export async function examineJournal(database: DoctorRepository): Promise<string[]> {
  const findings: string[] = [];
  for (let last: LastEntry | undefined; ;) {
    const entries = await database.findLastEntries(last);
    const suspects = await differing(database, entries);
    // A unit may have committed between the two reads; its entry is another one then.
    const still = suspects.length > 0 ? await database.findLastEntriesOf(suspects) : [];
    findings.push(
      ...(
        await differing(
          database,
          still.filter((entry) => isAmong(suspects, entry)),
        )
      ).map((entry) => `${database.nounOf(entry.kind)} ${textOf(entry)}`),
    );
    last = entries.at(-1);
    if (!last) return findings;
  }
}

async function differing(database: DoctorRepository, entries: readonly LastEntry[]): Promise<LastEntry[]> {
  const rows = await database.findJournalled(entries);
  return entries.filter((entry) => {
    const row = rows.get(keyOf(entry));
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

function isAmong(suspects: readonly LastEntry[], { version, seq, ...entry }: LastEntry): boolean {
  return suspects.some(
    (each) => keyOf(each) === keyOf(entry) && each.version === version && each.seq === seq,
  );
}

export function keyOf({ kind, resourceId }: Pick<LastEntry, 'kind' | 'resourceId'>): string {
  return `${kind} ${resourceId}`;
}

function textOf({ resourceId, tenantId, version, seq }: LastEntry): string {
  return `${resourceId}: is not as its last entry in the journal says (${tenantId} ${version}.${seq})`;
}
