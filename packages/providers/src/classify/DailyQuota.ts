/** The code of a quota that no short wait refills. Reports list it before the provider's own codes. */

/** A quota of a whole day, or a quota of zero. A wait beside this code belongs to another limit. */
export const dailyQuota = "daily_quota"
