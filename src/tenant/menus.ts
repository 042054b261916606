/** The ids in the list of menus as it was sent, each once, in their order. */
export function menusOf({ menuIds }: { readonly menuIds: string }): number[] {
  const ids = menuIds.split(',').map((id) => id.trim());
  return [...new Set(ids.filter((id) => id !== '').map(Number))];
}
