/** Error codes that no server sends: the code of this folder adds them to a report. */

/** The error code of an HTML page with status 403 that a firewall or a proxy sent instead of the provider. */
// Mutant `""` survives: any name will do that no server sends
export const firewallPage = "firewall_page"
