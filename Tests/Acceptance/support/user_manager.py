"""A user's own systemd, as far as this machine lets one run: in namespaces of its own, for nobody's units, or for root's."""

import os, shutil, subprocess, time

SYSTEMD, PYTHON = "/lib/systemd/systemd", "/usr/bin/python3"
USER = 65534


def groups():
    """Where the groups of this process are of which systemd makes its own: those of its name, and the unified ones."""
    found = []
    with open("/proc/self/cgroup") as lines:
        for line in lines:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if controllers in ("", "name=systemd"):
                roots = ["/sys/fs/cgroup/systemd"] if controllers else ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
                found += [root + path for root in roots if os.path.exists(root + path + "/cgroup.procs")][:1]
    return found


class UserManager:
    """Runs the units of a folder for a user whose home is a folder, which is `/home/user` to them; the folders of `mounted` are
    what they are bound to.

    What is mounted is so for it alone, and it ends with all of its processes.
    """

    def __init__(self, home, user=USER, mounted={}):
        self.user, self.runtime = user, f"/run/user/{user}"
        self.groups = [os.path.join(group, f"urlcache-admin-test-{os.getpid()}") for group in groups()]
        for group in self.groups:
            os.mkdir(group)
            subprocess.run(["chown", "-R", f"{self.user}:{self.user}", group], check=True)
        subprocess.run(["chown", "-R", f"{self.user}:{self.user}", home], check=True)
        environment = f"PATH=/usr/bin:/bin HOME=/home/user XDG_RUNTIME_DIR={self.runtime} SYSTEMD_LOG_TARGET=console"
        folders = f"/run/systemd/system /run/systemd/unit-root /run/lock {self.runtime} /home/user"
        script = ["set -e", *(f"echo 0 >{group}/cgroup.procs" for group in self.groups),
                  "mount -t tmpfs none /run", "mount -t tmpfs none /home",
                  # Where everybody may write, but for the sandbox.
                  "mount -t tmpfs -o mode=1777 none /srv", f"mkdir -p {folders}",
                  f"chown {self.user}:{self.user} {self.runtime}", f"chmod 700 {self.runtime}", f"mount --bind {home} /home/user",
                  *(f"mkdir -p {inside} && mount --bind {outside} {inside}" for outside, inside in mounted.items()),
                  # What it makes for PrivateTmp= would stay when it is killed.
                  *(f"mount -t tmpfs -o mode=1777 none {folder}" for folder in ("/tmp", "/var/tmp")),
                  # The process 1 would be that of a system.
                  f"setpriv --reuid {self.user} --regid {self.user} --clear-groups env -i {environment} "
                  f"{SYSTEMD} --user --unit=basic.target", "exit"]
        # The first of its processes is the one that is waited for.
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", "\n".join(script)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            # The manager of a user is not niced, even if these tests are: a unit cannot be less nice than its manager.
            preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, 0))

    def control(self, *words):
        """Runs `systemctl` as the user, where the units are."""
        [child] = subprocess.run(["ps", "--ppid", str(self.process.pid), "-o", "pid="], capture_output=True, text=True).stdout.split()
        return subprocess.run(
            ["nsenter", "--target", child, "--mount", "--pid", "setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups",
             "env", "-i", "PATH=/usr/bin:/bin", "HOME=/home/user", f"XDG_RUNTIME_DIR={self.runtime}", "systemctl", "--user", *words],
            capture_output=True, text=True)

    def is_ready(self):
        """Waits until it takes orders; `False` if it never will."""
        deadline = time.monotonic() + 120
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                if self.control("show", "--property=Version").returncode == 0:
                    return True
            except ValueError:
                pass
            time.sleep(0.2)
        return False

    def end(self):
        """Ends it, and returns what it said."""
        self.process.kill()
        said = self.process.communicate()[0]
        for group in self.groups:
            for folder, _, _ in os.walk(group, topdown=False):
                for _ in range(50):
                    try:
                        os.rmdir(folder)
                        break
                    except OSError:
                        time.sleep(0.1)
        return said


def can_run():
    """Whether what it takes is there: the programs, the rights, and groups to make others in."""
    return (os.geteuid() == 0 and os.path.exists(SYSTEMD) and os.path.exists(PYTHON)
            and all(shutil.which(name) for name in ("systemctl", "setpriv", "nsenter"))
            and groups() != [] and all(os.access(group, os.W_OK) for group in groups())
            and subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode == 0)
