import { examineTree } from './examine-tree';

const node = (key: number, parent: number | null, ancestors: string, depth: number) => ({
  key,
  parent,
  ancestors,
  depth,
});

describe('examineTree', () => {
  it('examineTree finds nothing in a sound tree', () => {
    const nodes = [node(1, null, '0', 1), node(2, 1, '0,1', 2), node(3, 2, '0,1,2', 3)];
    expect(examineTree(nodes)).toEqual({ orphans: [], cycles: [], wrongPaths: [] });
  });

  it('examineTree finds orphans, cycles and wrong paths, and knows the right ones', () => {
    const nodes = [
      node(1, null, '0', 1),
      node(2, 1, '0,9', 2),
      node(3, 2, '0,1,2', 7),
      node(4, 99, '0,99', 2),
      node(5, 6, '0,6', 2),
      node(6, 5, '0,5', 2),
    ];
    expect(examineTree(nodes)).toEqual({
      orphans: [4],
      cycles: [5, 6],
      wrongPaths: [
        { key: 2, ancestors: '0,1', depth: 2 },
        { key: 3, ancestors: '0,1,2', depth: 3 },
      ],
    });
  });
});
