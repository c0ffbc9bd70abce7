/** Compares a name that a model wrote with the name of a tool. */

/**
 * Whether a written name is the name of a tool apart from case, separators and a known prefix: `functions.`, `tools.`, or the name of the
 * tool's server.
 */
export const spelling = (written: string): ((name: string, server?: string) => boolean) => {
  if (written.length > longest) return () => false
  const wanted = bareOf(written)
  const shortened = bareOf(written.replace(prefix, ""))
  return (name, server) => {
    const bare = bareOf(name)
    if (bare === wanted || bare === shortened) return true
    if (server === undefined) return false
    const before = bareOf(server)
    return wanted === `${before}${bare}` || wanted === `mcp${before}${bare}`
  }
}

/** The same for a tool of any server: whether a written name ends as the name of the tool does. */
export const endsAs = (written: string, name: string): boolean =>
  written === name || (written.length <= longest && bareOf(written).endsWith(bareOf(name)))

/** The longest name to compare: twice the length that a tool's name may have. */
const longest = 128

const prefix = /^(?:functions?|tools?)[.:/_-]+/i

const bareOf = (name: string): string => name.toLowerCase().replaceAll(/[\s.:/_-]+/g, "")
