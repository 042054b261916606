import { PasswordHasher } from './password-hasher';

describe('PasswordHasher', () => {
  const hasher = new PasswordHasher();

  it('PasswordHasher makes argon2id hashes that only their password opens', async () => {
    const hash = await hasher.hash('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await hasher.verify(hash, 'correct horse')).toBe(true);
    expect(await hasher.verify(hash, 'wrong horse')).toBe(false);
    expect(await hasher.verify(null, 'nobody has this password')).toBe(false);
  });

  it('PasswordHasher lets fifty wait and refuses the rest at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 60 }, () => hasher.hash('x')));
    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused).toHaveLength(6);
    expect(refused[0]!.reason).toMatchObject({ row: { reason: 'TOO_MANY_LOGINS', status: 429 } });
    expect(await hasher.hash('x')).toMatch(/^\$argon2id/);
  });
});
