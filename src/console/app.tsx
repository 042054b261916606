import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, BASE, client, session, type Me } from './api.js';
import { Compare, Deleted } from './compare.js';
import { Departments } from './departments.js';
import { DeptStore } from './dept-store.js';
import { follow } from './live.js';
import { Rights } from './rights.js';
import { serviceInfo, SignIn } from './sign-in.js';
import { Tenants } from './tenants.js';
import { Badge, Button, Faint, Problem, useAnswer, useStore } from './ui.js';
import { chooseLanguage, language, LANGUAGES, t, type Word } from './words.js';

/** Whether somebody is signed in, or was until the session ended by itself. */
type Presence = 'in' | 'out' | 'ended';

/** The whole page: somebody signs in, and sees their organisation. */
export function App(): JSX.Element {
  const [presence, setPresence] = useState<Presence>(session.accessToken ? 'in' : 'out');
  const [, setLanguage] = useState(language);
  session.onEnd = () => setPresence('ended');
  const { answer: info } = useAnswer(serviceInfo, []);
  const other = language === 'zh' ? 'en' : 'zh';
  const settings = (
    <span class="settings">
      {info?.docs && <a href={BASE + info.docs}>{t('apiDocs')}</a>}
      <button type="button" class="quiet" lang={other} onClick={() => setLanguage(chooseLanguage(other))}>
        {LANGUAGES[other]}
      </button>
    </span>
  );
  if (presence === 'in') return <Organisation settings={settings} onOut={() => setPresence('out')} />;
  return (
    <>
      <header class="bar">{settings}</header>
      <SignIn
        demo={info?.demoAccounts ?? []}
        hasEnded={presence === 'ended'}
        onDone={() => setPresence('in')}
      />
    </>
  );
}

function Organisation({ settings, onOut }: { settings: JSX.Element; onOut: () => void }): JSX.Element {
  const { answer: me, problem } = useAnswer(() => ask(() => client.GET('/auth/me')), []);
  const rights = useMemo(() => me && new Rights(me), [me]);
  const store = useMemo(() => new DeptStore(), []);
  const [view, setView] = useState(location.hash.slice(1));
  onhashchange = () => setView(location.hash.slice(1));
  useStore(store);
  useEffect(() => (rights?.mayFollow ? follow(store) : undefined), [rights, store]);
  const parts = me && rights ? partsFor(me, rights, store, () => (location.hash = 'list')) : [];
  const shown = parts.find(({ word }) => word === view) ?? parts[0];
  return (
    <>
      <header class="bar">
        <strong>{me?.tenantName ?? 'Tenantry'}</strong>
        <nav aria-label={t('departments')}>
          {parts.map((part) => (
            <a key={part.word} href={`#${part.word}`} aria-current={part === shown ? 'page' : undefined}>
              {t(part.word)}
            </a>
          ))}
        </nav>
        {store.isFollowing && <Badge kind="good" word="live" />}
        {settings}
        <span class="faint">{me && `${me.username} · ${me.timeZone}`}</span>
        <Button word="signOut" kind="quiet" onClick={() => void session.signOut().then(onOut)} />
      </header>
      <main>
        <Problem of={problem} />
        {me && !shown && <Faint word="nothingOffered" />}
        {shown?.render()}
      </main>
    </>
  );
}

interface Part {
  /** What it is called, and its name in the address behind `#`. */
  readonly word: Word;
  readonly isOffered: boolean;
  readonly render: () => JSX.Element;
}

/** The parts of the page that the caller may see. */
function partsFor(me: Me, rights: Rights, store: DeptStore, showList: () => void): readonly Part[] {
  const show = (deptId: number): void => {
    showList();
    void store.show(deptId);
  };
  const depts = { store, rights };
  const mayRead = rights.may('dept:read');
  const mayRestore = rights.mayCreateAtTop;
  const mayReadTenants = rights.may('tenant:read');
  const parts: Part[] = [
    { word: 'list', isOffered: mayRead, render: () => <Departments {...depts} isChart={false} /> },
    { word: 'chart', isOffered: mayRead, render: () => <Departments {...depts} isChart /> },
    { word: 'compare', isOffered: rights.mayCompare, render: () => <Compare store={store} onShow={show} /> },
    { word: 'deletedDepts', isOffered: mayRestore, render: () => <Deleted onShow={show} /> },
    { word: 'tenants', isOffered: mayReadTenants, render: () => <Tenants me={me} rights={rights} /> },
  ];
  return parts.filter(({ isOffered }) => isOffered);
}
