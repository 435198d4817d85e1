import type { CodePath } from './code-paths.ts'

/** Patterns as in path-rules.ts, by white space. */
const anywhere = `
  .ssh .gnupg .putty .vnc .pki .password-store .local/share/keyrings .gnome2/keyrings .local/share/kwalletd library/keychains
  .kde/share/apps/kwallet .kde4/share/apps/kwallet .config/op .op .config/1password .config/bitwarden* .config/keepassxc *.kdbx
  .local/share/lpass .config/sops .config/age .age .config/gopass .local/share/gopass .vault-token .vault-tokens

  .aws .azure .config/gcloud .oci .aliyun .bluemix .config/doctl .config/hcloud .config/linode-cli .config/fly .fly .config/scw
  .config/netlify .config/heroku .config/.wrangler .wrangler/config .cloudflared .config/stripe .config/ngrok .ngrok2
  .local/share/com.vercel.cli .config/configstore .kube .minikube/profiles .config/argocd .config/helm .docker/config.json
  .config/containers/auth.json .terraform.d/credentials* .terraformrc .pulumi/credentials.json .consul-token .boto .s3cfg
  .mc/config.json .config/rclone .rclone.conf .config/tailscale .databrickscfg .snowsql .snowflake .dbt/profiles.yml
  .config/kaggle .kaggle .huggingface .cache/huggingface/token .cache/huggingface/stored_tokens .config/packer

  .netrc _netrc .git-credentials .config/git/credentials .config/gh .config/hub .config/glab-cli .config/tea .subversion/auth
  .pypirc .cargo/credentials* .gem/credentials .composer/auth.json .config/composer/auth.json .gradle/gradle.properties
  .m2/settings-security.xml .sbt/*credentials* .ivy2/.credentials .nuget/nuget .jfrog .circleci/cli.yml .travis/config.yml

  .pgpass .pg_service.conf .my.cnf .mylogin.cnf .odbc.ini .rhosts .smbcredentials .msmtprc .mbsyncrc .fetchmailrc .offlineimaprc
  .authinfo* .thunderbird .config/evolution .config/signal* .config/slack .config/discord .irssi .weechat .config/weechat
  .config/remmina .config/filezilla .filezilla .twurlrc

  .mozilla .config/google-chrome* .config/chromium .config/bravesoftware .config/microsoft-edge* .config/vivaldi .config/opera*
  .config/librewolf .librewolf snap/firefox snap/chromium .var/app library/cookies application*support/google
  application*support/firefox .config/code/user/globalstorage

  .bitcoin .litecoin .dogecoin .ethereum .electrum .monero .config/solana .config/exodus .foundry/keystores

  .*_history .zhistory .histfile .local/share/fish/fish_history .lesshst .viminfo .local/share/nu/history*`

/** Only directly in somebody's home; elsewhere a project has these for good reasons. */
const inHome = `
  .env .m2/settings.xml .config/pip/pip.conf .pip/pip.conf .wgetrc .curlrc .condarc .mutt .muttrc .config/neomutt
  .wakatime.cfg .config/uv/credentials.toml .gemrc`

const words = (text: string) => text.trim().split(/\s+/)

/**
 * Where programs keep what lets them in somewhere: keys, tokens, logins, and what people have typed. An agent sees none of it, wherever it lies below a workspace or a mount,
 * unless a mount gives it by name. Those of agent programs are declared by their adapters.
 */
export const credentialPaths: readonly CodePath[] = [
  ...words(anywhere).map((path): CodePath => ({ path, treatment: 'secret', runs: 'logins' })),
  ...words(inHome).map((path): CodePath => ({ path, treatment: 'flagged', inHome: 'secret', runs: 'settings' })),
]

/** Are these the names in a home of Pawl, ours or another? Its token and its database let anybody in, and its folders hold what all tasks did. */
export function looksLikePawlHome(has: (name: string) => boolean): boolean {
  const isSpecific = ['run.json', 'daemon.lock', 'self-test.json', 'postgres'].some(has)
  const work = ['sessions', 'runs', 'workspaces'].filter(has).length
  return has('token') ? isSpecific || work > 1 : isSpecific && work > 1
}
