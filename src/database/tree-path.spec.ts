import { descendantPaths, isWithin, pathBelow, placeUnder, TOP_LEVEL, type TreeNode } from './tree-path';

const node = (key: number, under?: TreeNode): TreeNode => ({
  key,
  ...(under ? placeUnder(under) : TOP_LEVEL),
});

describe('paths', () => {
  const top = node(100);
  const child = node(101, top);
  const grandchild = node(102, child);
  const lookalike = node(103, node(1001));

  it('a path starts at the root and ends at the parent', () => {
    expect(top.ancestors).toBe('0');
    expect(child.ancestors).toBe('0,100');
    expect(grandchild).toMatchObject({ ancestors: '0,100,101', depth: 3 });
  });

  it('a path tells a descendant from a node whose key merely begins alike', () => {
    expect(isWithin(top, top)).toBe(true);
    expect(isWithin(top, child)).toBe(true);
    expect(isWithin(top, grandchild)).toBe(true);
    expect(isWithin(top, lookalike)).toBe(false);
    expect(isWithin(child, top)).toBe(false);
  });

  it('a path gives the range of the descendants and of nothing else', () => {
    const { from, before } = descendantPaths(top);
    const inRange = (path: string) => path >= from && path < before;
    expect([child, grandchild].every((each) => inRange(each.ancestors))).toBe(true);
    expect([top.ancestors, lookalike.ancestors, pathBelow(node(99)), '0,1000', '0,100-'].some(inRange)).toBe(
      false,
    );
  });
});
