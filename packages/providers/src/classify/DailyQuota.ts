/** The error code for a quota that no short wait refills. Codecs put it before the provider's own codes. */

/** The error code of a quota for a whole day, or of a quota of zero. If the same error states a wait, the wait belongs to another limit. */
// Mutant `""` survives: any name will do that no server sends
export const dailyQuota = "daily_quota"
