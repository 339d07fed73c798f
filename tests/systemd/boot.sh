#!/bin/bash
# Makes of fresh namespaces a small machine and becomes its systemd.
#
# usage: unshare --pid --fork --kill-child --mount --mount-proc --uts --ipc --cgroup boot.sh PROGRAM UNIT...
set -euo pipefail

mount --make-rprivate /
# Only systemd's view of the control groups: below the one that it was started in.
while read -r _ where kind options _; do
  case $kind in cgroup | cgroup2) umount "$where" && mount -t "$kind" -o "$options" "$kind" "$where" ;; esac
done <<<"$(</proc/mounts)"

# Whatever a machine writes to is in memory; its tmpfiles.d would clean the /tmp of this one.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/etc /run/systemd/system /run/given
cp -a /etc/. /run/etc/
cp "$@" /run/given
mount --bind /run/etc /etc
for where in /tmp /var/tmp /var/lib /var/log /var/cache /usr/local/bin; do
  mount -t tmpfs -o "mode=$(stat -c %a "$where"),size=$([ "$where" = /var/lib ] && echo 1m || echo 1g)" tmpfs "$where"
done

mv "/run/given/$(basename "$1")" /usr/local/bin/tidemark
mv /run/given/* /run/systemd/system
mkdir -p /etc/tidemark /etc/systemd/journald.conf.d
printf '[Journal]\nReadKMsg=no\nAudit=no\nRateLimitBurst=0\n' >/etc/systemd/journald.conf.d/test.conf
# Of the host's units only the journal and the targets that services begin from: others would set the host's kernel variables.
cd /lib/systemd/system
cp systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket sysinit.target basic.target shutdown.target \
  network-online.target time-sync.target /run/systemd/system
printf '[Unit]\nRequires=systemd-journald.service\nAfter=systemd-journald.service\n' >/run/systemd/system/test.target
exec env -i container=other "PATH=$PATH" SYSTEMD_UNIT_PATH=/run/systemd/system \
  /lib/systemd/systemd --unit=test.target --show-status=no --log-target=journal
