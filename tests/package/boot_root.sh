#!/bin/bash
# Makes of fresh namespaces and a clean root a small machine in memory, and becomes its systemd, or with "container" a process that
# waits.
#
# usage: unshare --pid --fork --kill-child --mount --mount-proc --uts --ipc --cgroup boot_root.sh ROOT.tar systemd|container
set -euo pipefail
root=$1 kind=$2

mount --make-rprivate /
# Only systemd's view of the control groups: below the one that it was started in.
while read -r _ where type options _; do
  case $type in cgroup | cgroup2) umount "$where" && mount -t "$type" -o "$options" "$type" "$where" ;; esac
done <<<"$(</proc/mounts)"

mount -t tmpfs -o mode=755,size=2g tmpfs /mnt
tar -x -C /mnt -f "$root"
cp --remove-destination /etc/resolv.conf /etc/hosts /mnt/etc/
for shared in dev sys; do mount --rbind "/$shared" "/mnt/$shared"; done
mount -t proc proc /mnt/proc
mount -t tmpfs -o mode=755 tmpfs /mnt/run
# What services begin from and the journal: all else that a machine starts with would set the variables of this one's kernel.
rm -rf /mnt/lib/systemd/system/*.wants
printf '[Unit]\nRequires=systemd-journald.service\nAfter=systemd-journald.service\n' >/mnt/etc/systemd/system/test.target 2>/dev/null ||
  [ "$kind" = container ]
cd /mnt
pivot_root . mnt
umount -l /mnt
[ "$kind" = systemd ] || exec sleep infinity
exec env -i container=other "PATH=$PATH" \
  /lib/systemd/systemd --unit=test.target --show-status=no --log-target=journal
