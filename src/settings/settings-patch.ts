import { DEFAULT_SETTINGS, type SettingsTree } from './settings-tree.js';

/** A part of the tree: what is to change, or what differs from the defaults. */
export type SettingsPatch = { [G in keyof SettingsTree]?: Partial<SettingsTree[G]> };

type Group = Record<string, unknown>;
type Groups = Record<string, Group>;

/** The tree with the fields of the patch; a field that the tree does not have is left out. */
export function applyPatch(tree: SettingsTree, patch: SettingsPatch): SettingsTree {
  return mapGroups(tree, (fields, group) => {
    const given = (patch as Groups)[group] ?? {};
    return Object.entries(fields).map(([field, value]) => [
      field,
      given[field] === undefined ? value : given[field],
    ]);
  }) as unknown as SettingsTree;
}

/** What has to be stored, so that later defaults reach the fields that nobody changed. */
export function differenceFromDefaults(tree: SettingsTree): SettingsPatch {
  return mapGroups(tree, (fields, group) => {
    const defaults = (DEFAULT_SETTINGS as unknown as Groups)[group] ?? {};
    return Object.entries(fields).filter(([field, value]) => value !== defaults[field]);
  });
}

function mapGroups(
  tree: SettingsTree,
  map: (fields: Group, group: string) => [string, unknown][],
): Groups {
  const groups = Object.entries(tree as unknown as Groups);
  return Object.fromEntries(
    groups.map(([group, fields]) => [group, Object.fromEntries(map(fields, group))]),
  );
}
