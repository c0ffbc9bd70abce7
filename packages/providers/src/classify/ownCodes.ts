/** Codes that no server sends: this folder adds them to a report. */

/** A page with status 403, in the place of an answer of the server. */
export const firewallPage = "firewall_page"
