/** Lets a source work on what comes next while what came is used: one step ahead, and no more. */
export async function* readAhead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T> {
  const nextOf = (): Promise<IteratorResult<T, void>> => {
    const next = source.next();
    // It is waited for when it is its turn; a failure until then must not count as nobody's.
    next.catch(() => undefined);
    return next;
  };
  try {
    let next = nextOf();
    for (;;) {
      const step = await next;
      if (step.done) return;
      next = nextOf();
      yield step.value;
    }
  } finally {
    await source.return();
  }
}
