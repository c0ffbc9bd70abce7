/** The family of a model: what all names of one model have in common, at any provider and of any date. */

/**
 * The family of a model by its name, in lower case: without the vendor or the region before it, and without the date, the version, the
 * stage (`latest`, `preview` …) or the variant behind it. So `us.anthropic.claude-sonnet-4-6-20260217-v1:0`,
 * `anthropic/claude-sonnet-4.6` and `claude-sonnet-4-6@20260217` are all `claude-sonnet-4-6`. A plain function of the name, also of a
 * name that no table has.
 *
 * @internal
 */
export const familyOf = (name: string): string => {
  const last = name.trim().toLowerCase().replace(/^ft:/, "").split("/").at(-1) ?? ""
  const [bare = ""] = last.replace(vendor, "").split(/[:@]/)
  const isClaude = bare.startsWith("claude-")
  // the alias `claude-sonnet-4-0` is `claude-sonnet-4`
  let family = isClaude ? bare.replaceAll(".", "-").replace(/-v\d$/, "").replace(/-0$/, "") : bare
  for (let shorter = family.replace(remark, ""); shorter !== family; shorter = family.replace(remark, "")) {
    family = shorter
  }
  return family
}

/** Before a name of Bedrock, a region and a vendor: `us.anthropic.`, `openai.`. */
const vendor = /^(?:[a-z-]{2,8}\.)?(?:anthropic|openai|deepseek|moonshotai|moonshot|google|mistral|qwen|meta)\./

/** A date in one of its forms (`20251101`, `2025-11-01`, `05-20`, `08-2024`, `0905`), a number of a revision, or a stage. */
const remark =
  /-(?:20\d{6}|20\d\d-\d\d-\d\d|(?:0[1-9]|1[0-2])-(?:[0-3]\d|20\d\d)|\d{4}|00\d|latest|preview|exp|experimental|beta|customtools)$/
