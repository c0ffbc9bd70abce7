/** A secret that no earlier test of the process has made known. */
export const uniqueSecret = (): string => `K_${crypto.randomUUID()}`
