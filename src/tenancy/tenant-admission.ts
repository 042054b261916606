/** May users of this tenant be served now? A port; it refuses by throwing. */
export abstract class TenantAdmission {
  abstract admit(tenantId: string): Promise<void> | void;
}
