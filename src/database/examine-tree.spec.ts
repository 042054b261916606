import { examineTree, findPlaces } from './examine-tree';

const node = (key: number, parent: number | null, ancestors: string, depth: number) => ({
  key,
  parent,
  ancestors,
  depth,
});

describe('examineTree', () => {
  it('examineTree finds nothing in a sound tree', async () => {
    const nodes = [node(1, null, '0', 1), node(2, 1, '0,1', 2), node(3, 2, '0,1,2', 3)];
    expect(await examineTree(nodes)).toEqual({ orphans: [], cycles: [], wrongPaths: [] });
  });

  it('examineTree finds orphans, cycles and wrong paths, and knows the right ones', async () => {
    const nodes = [
      node(1, null, '0', 1),
      node(2, 1, '0,9', 2),
      node(3, 2, '0,1,2', 7),
      node(4, 99, '0,99', 2),
      node(5, 6, '0,6', 2),
      node(6, 5, '0,5', 2),
      node(7, 6, '0,6', 2),
      node(8, 4, '0,4', 2),
    ];
    expect(await examineTree(nodes)).toEqual({
      orphans: [4],
      cycles: [5, 6],
      wrongPaths: [
        { key: 2, ancestors: '0,1', depth: 2 },
        { key: 3, ancestors: '0,1,2', depth: 3 },
      ],
    });
  });

  it('findPlaces finds the places in a chain of any length', async () => {
    const chain = Array.from({ length: 20_000 }, (_, n) => ({ key: n + 1, parent: n === 0 ? null : n }));
    const { places } = await findPlaces(chain.reverse());
    expect([places.size, places.get(3), places.get(20_000)?.depth]).toEqual([
      20_000,
      { ancestors: '0,1,2', depth: 3 },
      20_000,
    ]);
  });
});
