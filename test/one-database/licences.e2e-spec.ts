import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALLOWED, licencesPage, productionDependencies } from '../support/licences';

describe('the licences of what is installed in production', () => {
  it('the licences of what is installed are all among those that may be', () => {
    const dependencies = productionDependencies();
    expect(dependencies.length).toBeGreaterThan(100);
    // One of several to choose from is enough.
    const forbidden = dependencies.filter(
      ({ licence }) =>
        !licence
          .replace(/[()]/g, '')
          .split(' OR ')
          .some((each) => ALLOWED.has(each)),
    );
    expect(forbidden).toEqual([]);
  });

  it('the licences are told in docs/licences.md as they are now (npm run licences)', () => {
    const page = readFileSync(join(__dirname, '..', '..', 'docs', 'licences.md'), 'utf8');
    expect(page).toBe(licencesPage());
  });
});
