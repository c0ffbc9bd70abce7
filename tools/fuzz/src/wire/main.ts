/**
 * Plays the hostile answers over real connections of the loopback interface, whole and streamed, and prints a table. Exits with 1 if a
 * run hangs, crashes, ends with a defect, or with another reply, class or number of sends than it has to.
 *
 *   npm run fuzz -- wire [group]
 */
import { playApart } from "./apart.ts"
import { groupsOf, type Line, playAll, report, scenarios } from "./playing.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

/** `command` starts the program that plays one group. */
export const wire = async (
  command: ReadonlyArray<string>,
  [group, isApart]: ReadonlyArray<string>
): Promise<number> => {
  const groups = groupsOf(scenarios)
  if (group !== undefined && !groups.includes(group)) {
    say(`usage: npm run fuzz -- wire [group]\ngroups: ${groups.join(" ")}`)
    return 2
  }
  if (isApart === "apart") {
    const own = scenarios.filter((scenario) => scenario.group === group)
    await playAll(own, (line) => say(JSON.stringify(line)))
    return 0
  }
  const lines: Array<Line> = []
  for (const one of groups) {
    if (group !== undefined && one !== group) continue
    await playApart(one, [...command, "wire", one, "apart"], (line) => lines.push(line))
  }
  say(report(lines))
  return lines.every(({ type }) => type === "right") ? 0 : 1
}
