/** What is dropped beyond a limit: nothing of a subject that has less than another one. */

/** The first item of the subject that has the most. */
export const firstOfMost = <A>(items: Iterable<A>, subjectOf: (item: A) => string): A | undefined => {
  const counts = new Map<string, { readonly first: A; count: number }>()
  let most: { readonly first: A; readonly count: number } | undefined
  for (const item of items) {
    const subject = subjectOf(item)
    const counted = counts.get(subject) ?? { first: item, count: 0 }
    counts.set(subject, counted)
    counted.count++
  }
  for (const counted of counts.values()) if (counted.count > (most?.count ?? 0)) most = counted
  return most?.first
}
