/** Lets the decorator of a parameter tell the documentation of its operation, too. */
export function documented(documentation: MethodDecorator): ParameterDecorator {
  return (target, key) => {
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key !== undefined && descriptor) documentation(target, key, descriptor);
  };
}
