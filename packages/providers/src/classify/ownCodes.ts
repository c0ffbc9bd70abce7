/** Error codes that no server sends: the code of this folder adds them to a report. */

/** The error code of an HTML page with status 403 that a firewall or a proxy sent instead of the provider. */
export const firewallPage = "firewall_page"
