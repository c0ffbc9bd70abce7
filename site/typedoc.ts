/**
 * How the API reference is drawn: a plugin of TypeDoc.
 *
 * Modules are named as they are imported, members that come from a type above are left out, and a name is its declaration, what its
 * comment says and a table of its properties. Types that compute what a signature says are private to their modules on purpose: they
 * are named and not linked, so TypeDoc is not asked for exports that are missing. A link of a comment that leads nowhere is an error.
 */
import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { type Application, Converter, type DeclarationReflection, ReferenceType, ReflectionKind } from "typedoc"
import { MarkdownTheme, MarkdownThemeContext, type MarkdownPageEvent } from "typedoc-plugin-markdown"
import type { ProjectReflection, Reflection, SomeType } from "typedoc"

/** The modules that get a page: the path of each below `api`, by its source. `scripts/site.ts` writes it. */
const modules: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../.cache/site/modules.json", import.meta.url), "utf8")
)

const fileOf = (reflection: Reflection | undefined): string | undefined =>
  reflection?.isDeclaration() ? reflection.sources?.[0]?.fullFileName : undefined

/**
 * What stands where its class stands is its own: the fields of an error are given to the schema that the class extends. The rest is
 * told of the type above.
 */
const isOwn = (member: DeclarationReflection): boolean =>
  member.inheritedFrom === undefined ||
  (member.parent?.kind === ReflectionKind.Class && fileOf(member) === fileOf(member.parent))

const isOurs = (member: DeclarationReflection): boolean =>
  member.kind !== ReflectionKind.Constructor && fileOf(member)?.endsWith(".d.ts") === false

/** A sentence on inherited members, which another page documents. */
const alsoHas = (members: ReadonlyArray<DeclarationReflection>): string => {
  const pages = members.flatMap((member) => modules[fileOf(member) ?? ""] ?? [])
  const homes = new Set(pages.map((page) => `\`${basename(page)}\``))
  const where = homes.size === 0 ? "" : `: see ${[...homes].join(" and ")}`
  return `It has ${members.map(({ name }) => `\`${name}\``).join(", ")} as well${where}.`
}

const isShown = (member: DeclarationReflection): boolean =>
  isOwn(member) && !member.name.startsWith("[") && member.kind !== ReflectionKind.Constructor

/** The name of the schema of a field, as its source has it: what it decodes to, spelled out, fills a screen. */
const schemaOf = (member: DeclarationReflection): ReadonlyArray<string> | undefined => {
  const [source] = member.sources ?? []
  if (source === undefined || member.parent?.kind !== ReflectionKind.Class) return undefined
  const line = readFileSync(source.fullFileName, "utf8").split("\n")[source.line - 1] ?? ""
  const [, name] = /^ *\w+: (?:Schema\.optionalKey\()?((?:[A-Z]\w*\.)?[A-Z]\w*)\)?,?$/.exec(line) ?? []
  return name === undefined || name.startsWith("Schema.") ? undefined : name.split(".")
}

/** A name of the same module, or of another one of the package; linked if it is there. */
const typeNamed = (path: ReadonlyArray<string>, from: DeclarationReflection, project: ProjectReflection): SomeType => {
  const name = path.join(".")
  const own = from.parent?.parent
  const [owner, member] = path.length === 1 ? [own?.name, path[0]] : [`core/${path[0]}`, path[1]]
  const found = project.children
    ?.find((module) => module.name === owner)
    ?.children?.find((one) => one.name === member && !one.kindOf(ReflectionKind.Variable))
  return found === undefined
    ? ReferenceType.createBrokenReference(name, project, undefined)
    : ReferenceType.createResolvedReference(name, found, project)
}

/** A module that is imported as `@kintsugi/core/testing/Trace` gets a page of that path, from any folder. */
const rename = (project: ProjectReflection): void => {
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const name = modules[fileOf(module) ?? ""]
    if (name === undefined) throw new Error(`${module.name} is no module that is published`)
    module.name = name
  }
}

/** A parameter that is taken apart where it stands has no name. */
const nameParameters = (project: ProjectReflection): void => {
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter))
    if (parameter.name.startsWith("__")) parameter.name = "options"
}

const prune = (project: ProjectReflection): void => {
  for (const parent of project.getReflectionsByKind(ReflectionKind.ClassOrInterface)) {
    if (!parent.isDeclaration()) continue
    const left = (parent.children ?? []).filter((member) => !isOwn(member) && isOurs(member))
    for (const member of parent.children?.slice() ?? []) {
      const schema = schemaOf(member)
      if (!isShown(member)) project.removeReflection(member)
      else if (schema !== undefined) member.type = typeNamed(schema, member, project)
      delete member.inheritedFrom
      delete member.defaultValue
    }
    // what a class extends is a schema, spelled out in full
    if (parent.kind === ReflectionKind.Class) {
      if (left.length > 0) parent.comment?.summary.push({ kind: "text", text: `\n\n${alsoHas(left)}` })
      delete parent.typeHierarchy
      delete parent.extendedTypes
    }
  }
}

class Context extends MarkdownThemeContext {
  constructor(theme: MarkdownTheme, page: MarkdownPageEvent<Reflection>, options: Application["options"]) {
    super(theme, page, options)
    // the declaration above says it in full
    this.partials.signatureReturns = () => ""
    this.partials.inheritance = () => ""
    this.partials.sources = () => ""
  }
}

class Theme extends MarkdownTheme {
  override getRenderContext(page: MarkdownPageEvent<Reflection>): Context {
    return new Context(this, page, this.application.options)
  }
}

export const load = (app: Application): void => {
  app.renderer.defineTheme("reference", Theme)
  app.converter.on(
    Converter.EVENT_RESOLVE_END,
    ({ project }) => {
      rename(project)
      nameParameters(project)
      prune(project)
    },
    // after it is known what is inherited, before members are put into groups
    -50
  )
}
