import { Fragment, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { BASE, session } from './api.js';
import { Button, Field, Form, Problem, useAction, type Fields } from './ui.js';
import { t } from './words.js';

type DemoAccount = Parameters<typeof session.signIn>[0] & {
  readonly tenantName: string;
  readonly role: string;
};

interface ServiceInfo {
  readonly docs: string | null;
  /** Where the service runs on the data of the demo, and not in production. */
  readonly demoAccounts?: readonly DemoAccount[];
}

export async function serviceInfo(): Promise<ServiceInfo> {
  const response = await fetch(`${BASE}/`, { headers: { Accept: 'application/json' } });
  return ((await response.json()) as { data: ServiceInfo }).data;
}

interface SignInProps {
  readonly demo: readonly DemoAccount[];
  readonly hasEnded: boolean;
  readonly onDone: () => void;
}

/** By name and password, by a token or a key, or as somebody of the demo. */
export function SignIn({ demo, hasEnded, onDone }: SignInProps): JSX.Element {
  const [isPasted, setPasted] = useState(false);
  const { problem, isBusy, run } = useAction();
  const enter = (work: () => Promise<void>): void => run(() => work().then(onDone));
  const send = ({ tenantId = '', username = '', password = '', token = '' }: Fields): void => {
    const account = { username: username.trim(), password, tenantId: tenantId.trim() || undefined };
    enter(() => (isPasted ? session.usePasted(token.trim()) : session.signIn(account)));
  };
  return (
    <main class="sign-in">
      <h1>Tenantry</h1>
      <p class="faint">{t('tagline')}</p>
      {hasEnded && <p class="hint">{t('sessionEnded')}</p>}
      <Form onSend={send}>
        {isPasted ? (
          <Field key="token" name="token" type="password" required autoComplete="off" />
        ) : (
          <Fragment key="password">
            <Field name="tenantId" placeholder={t('platformIfEmpty')} autoComplete="organization" />
            <Field name="username" required autoComplete="username" />
            <Field name="password" type="password" required autoComplete="current-password" />
          </Fragment>
        )}
        <Problem of={problem} />
        <Button word="signIn" kind="main" disabled={isBusy} />
        <Button
          word={isPasted ? 'usePassword' : 'useToken'}
          kind="quiet"
          onClick={() => setPasted(!isPasted)}
        />
      </Form>
      {demo.length > 0 && <h2>{t('demoAccounts')}</h2>}
      {demo.map(({ tenantName, role, ...account }) => (
        <button
          key={`${account.tenantId} ${account.username}`}
          class="demo"
          disabled={isBusy}
          onClick={() => enter(() => session.signIn(account))}
        >
          <strong>{account.username}</strong> {tenantName} <small class="faint">{role}</small>
        </button>
      ))}
    </main>
  );
}
