import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import * as api from './api.js';
import type { Rights } from './rights.js';
import { Tree } from './tree.js';
import { TreeStore } from './tree-store.js';
import * as ui from './ui.js';
import { t } from './words.js';

const { Badge, Button, Facts, Field, FormDialog, Problem } = ui;
const { ask, client } = api;

/** The caller's tenant and those below it. */
class TenantStore extends TreeStore<string, api.TenantRow> {
  constructor(readonly own: string) {
    super('');
  }

  protected idOf({ tenantId }: api.TenantRow): string {
    return tenantId;
  }

  protected readBelow(tenantId: string): Promise<api.TenantRow[]> {
    const part = tenantId === this.root ? { tenantId: this.own } : { tenantParent: tenantId };
    return api.allPages((cursor) => {
      const query = { ...part, limit: 500, cursor };
      return ask(() => client.GET('/system/tenant-api', { params: { query } }));
    });
  }

  /** Reads what is open anew. */
  async load(): Promise<void> {
    await this.guarded(async () => {
      const open = this.isLoaded ? [...this.all.open] : [this.root, this.own];
      for (const id of open) this.put(this.all, id, await this.readBelow(id));
    });
  }
}

export function Tenants({ me, rights }: { me: api.Me; rights: Rights }): JSX.Element {
  const store = useMemo(() => new TenantStore(me.tenantId), [me]);
  ui.useStore(store);
  useEffect(() => void store.load(), [store]);
  const row = store.selected === null ? undefined : store.row(store.selected);
  const details = row && <TenantDetails key={row.id} row={row} store={store} rights={rights} />;
  return (
    <ui.Split word="tenants" store={store} details={details}>
      <Problem of={store.problem} />
      <Tree
        label={t('tenants')}
        rows={store.seen()}
        nameOf={({ tenantName }) => tenantName}
        badges={(tenant) => (
          <>
            <StateBadge of={tenant} />
            <small class="faint">{tenant.endTime && daysMore(tenant.endTime, me.timeZone)}</small>
          </>
        )}
        selected={store.selected}
        onSelect={(id) => store.select(id)}
        onToggle={(id, open) => void store.toggle(id, open)}
      />
    </ui.Split>
  );
}

/** How many days are left, by the calendar of the service. */
function daysMore(endTime: string, timeZone: string): string {
  const today = new Date().toLocaleDateString('sv', { timeZone });
  return t('daysMore', { days: Math.max(0, (Date.parse(endTime) - Date.parse(today)) / 86_400_000) });
}

function StateBadge({ of }: { readonly of: api.TenantRow }): JSX.Element {
  return <Badge kind={of.state === 'ACTIVE' ? 'good' : 'off'} word={of.state} />;
}

function TenantDetails({ row, store, rights }: { row: api.TenantRow; store: TenantStore; rights: Rights }) {
  const [task, setTask] = useState<'edit' | 'create' | null>(null);
  const params = { path: { id: row.id } };
  const readTenant = () => api.askTagged(() => client.GET('/system/tenant-api/{id}', { params }));
  const read = ui.useAnswer(readTenant, [row]);
  const uses = ui.useAnswer(() => ask(() => client.GET('/system/entitlement-api/{id}', { params })), [row]);
  const close = (): void => {
    setTask(null);
    read.reload();
  };
  const done = async (): Promise<void> => {
    close();
    await store.load();
    if (task === 'create') await store.toggle(row.tenantId, true);
  };
  const isOwn = row.tenantId === store.own;
  const mayWrite = rights.may('tenant:write');
  return (
    <article class="details">
      <h2>{row.tenantName}</h2>
      <Facts
        of={[
          ['tenantId', row.tenantId],
          ['status', <ui.StatusBadge key="status" status={row.status} />],
          ['state', <StateBadge key="state" of={row} />],
          ['companyName', row.companyName],
          ['contactUserName', row.contactUserName],
          ['contactPhone', row.contactPhone],
        ]}
      />
      <Problem of={read.problem ?? uses.problem} />
      {uses.answer && <Uses of={uses.answer} />}
      <div class="actions">
        {mayWrite && !isOwn && read.answer && <Button word="edit" onClick={() => setTask('edit')} />}
        {mayWrite && <Button word="createTenant" onClick={() => setTask('create')} />}
      </div>
      {task && read.answer && (
        <TenantDialog read={read.answer} isNew={task === 'create'} onDone={done} onClose={close} />
      )}
    </article>
  );
}

/** What a tenant may use, and how much of it is used. */
function Uses({ of }: { readonly of: api.Entitlement }): JSX.Element {
  const { startTime, endTime, accounts, quotas, menuIds } = of;
  const meters = [{ kind: 'accounts', used: accounts.used, total: accounts.limit }, ...quotas];
  const rules = Object.entries(of.rules).filter(([, text]) => text !== null);
  return (
    <>
      <Facts
        of={[
          ['period', `${startTime ?? t('open')} – ${endTime ?? t('open')}`],
          ['menuIds', menuIds.join(', ')],
          ['rules', rules.map(([name, text]) => `${name}: ${String(text)}`).join('; ')],
        ]}
      />
      <h2>{t('quotas')}</h2>
      {meters.map(({ kind, used, total }) => (
        <label key={kind} class="field">
          {ui.nameOf(kind)}
          <span>{t('quotaUse', { used, total: total === -1 ? t('unlimited') : total })}</span>
          <meter max={Math.max(total, 1)} high={Math.max(total, 1) * 0.9} value={total === -1 ? 0 : used} />
        </label>
      ))}
    </>
  );
}

type TenantDialogProps = ui.TaskProps & { readonly read: api.Answer<api.Tenant>; readonly isNew: boolean };

/** Changes a tenant on the condition that nobody else has, or creates one below it. */
function TenantDialog({ read, isNew, onDone, onClose }: TenantDialogProps): JSX.Element {
  const [{ data, tag }] = useState(read);
  const tenant = isNew ? null : data;
  const [quotas, rules] = [Object.keys(data.quotaBo), Object.keys(data.ruleBo)];
  const values: Readonly<Record<string, number | string | null>> = { ...tenant?.quotaBo, ...tenant?.ruleBo };
  const send = async (fields: ui.Fields, changed: ui.Fields): Promise<void> => {
    const body = bodyOf(isNew ? fields : changed, quotas, rules);
    const params = { path: { id: data.id }, header: { 'If-Match': tag } };
    const added = { ...body, tenantName: fields.tenantName ?? '', tenantParent: data.tenantId };
    if (isNew) await ask(() => client.POST('/system/tenant-api', { body: added }));
    else await ask(() => client.PATCH('/system/tenant-api/{id}', { params, body }));
    await onDone();
  };
  return (
    <FormDialog title={t(isNew ? 'createTenant' : 'edit')} word="save" onSend={send} onClose={onClose}>
      <Field name="tenantName" defaultValue={tenant?.tenantName ?? ''} required maxLength={128} />
      <Field name="companyName" defaultValue={tenant?.companyName ?? ''} maxLength={128} />
      <Field name="contactUserName" defaultValue={tenant?.contactUserName ?? ''} maxLength={64} />
      <Field name="contactPhone" type="tel" defaultValue={tenant?.contactPhone ?? ''} maxLength={64} />
      <Field name="startTime" type="date" defaultValue={tenant?.startTime ?? ''} />
      <Field name="endTime" type="date" defaultValue={tenant?.endTime ?? ''} />
      <Field name="accountCount" type="number" required defaultValue={tenant?.accountCount ?? -1} />
      <Field name="menuIds" defaultValue={tenant?.packageBo.menuIds ?? ''} />
      <ui.StatusField value={tenant?.status} />
      <fieldset>
        <legend>{t('quotas')}</legend>
        {quotas.map((name) => (
          <Field key={name} name={name} type="number" required defaultValue={values[name] ?? 0} />
        ))}
      </fieldset>
      <fieldset>
        <legend>{t('rules')}</legend>
        {rules.map((name) => (
          <label key={name} class="field">
            <span>{name}</span>
            <textarea name={name} defaultValue={values[name] ?? ''} />
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}

/** Fields of the form as the API takes them; an empty text is none. */
function bodyOf(fields: ui.Fields, quotas: readonly string[], rules: readonly string[]) {
  const texts: Record<string, string | null> = {};
  const [quotaBo, ruleBo]: [Record<string, number>, Record<string, string | null>] = [{}, {}];
  const { accountCount, menuIds, ...others } = fields;
  for (const [name, value = ''] of Object.entries(others))
    if (quotas.includes(name)) quotaBo[name] = Number(value);
    else (rules.includes(name) ? ruleBo : texts)[name] = value === '' ? null : value;
  return {
    ...texts,
    ...(accountCount !== undefined && { accountCount: Number(accountCount) }),
    ...(menuIds !== undefined && { packageBo: { menuIds } }),
    quotaBo,
    ruleBo,
  };
}
