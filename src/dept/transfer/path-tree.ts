import type { DeptEntity } from '../dept.entity';
import type { DeptLine } from './dept-line';
import { formatStep, type PathStep } from './dept-path';

/** A place on the paths of a file: some line's own, or one that lines pass through. */
export class PathNode {
  readonly children = new Map<string, PathNode>();
  line: DeptLine | undefined;
  /** The department that stands there already. */
  existing: DeptEntity | undefined;
  /** How many departments have this name there already. */
  twins = 0;

  constructor(
    readonly step: PathStep,
    /** Null at the top level. */
    readonly parent: PathNode | null,
  ) {}

  /** Whether there is, or will be, a department at this place. */
  get isThere(): boolean {
    return this.existing !== undefined || this.line !== undefined;
  }
}

/** The paths of a file as a tree of their own. Pure. */
export class PathTree {
  readonly #top = new Map<string, PathNode>();

  /** Puts a line at its place; gives the line that has taken it before, if any. */
  add(line: DeptLine): DeptLine | undefined {
    let parent: PathNode | null = null;
    for (const step of line.path) parent = childOf(parent, parent?.children ?? this.#top, step);
    const before = parent?.line;
    if (parent && !before) parent.line = line;
    return before;
  }

  siblingsOf({ parent }: PathNode): ReadonlyMap<string, PathNode> {
    return parent?.children ?? this.#top;
  }

  /** All places, level by level from the top. */
  *levels(): Generator<PathNode[]> {
    for (let level = [...this.#top.values()]; level.length > 0;) {
      yield level;
      level = level.flatMap(({ children }) => [...children.values()]);
    }
  }
}

function childOf(parent: PathNode | null, siblings: Map<string, PathNode>, step: PathStep): PathNode {
  const key = formatStep(step);
  const known = siblings.get(key);
  if (known) return known;
  const made = new PathNode(step, parent);
  siblings.set(key, made);
  return made;
}
