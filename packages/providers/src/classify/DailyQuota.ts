/** The code of a quota that no short wait refills: the reports of errors have it before those of the provider. */

/** Stands for a quota of a whole day, or of nothing at all; whatever wait comes along with it is for another quota. */
export const dailyQuota = "daily_quota"
