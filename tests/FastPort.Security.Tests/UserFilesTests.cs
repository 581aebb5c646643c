using FastPort.Security.Identities;
using Xunit;

namespace FastPort.Security.Tests;

public sealed class UserFilesTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    private string Path => _directory["users"];

    [Fact]
    public void A_new_file_is_the_owners_and_is_read_back()
    {
        UserFiles.Set(Path, "anna", "one", ["operator", "night"]);
        UserFiles.Set(Path, "bert", "two", []);

        UserFile users = UserFile.Read(File.ReadAllBytes(Path), [])!;
        Assert.True(users.Verify("anna", "one")!.IsInRole("night"));
        Assert.NotNull(users.Verify("bert", "two"));
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path));
        }
    }

    [Fact]
    public void A_user_is_changed_in_place_and_everything_else_stays()
    {
        File.WriteAllText(Path, "# staff\nannabel:x\nanna:x:old\n\nbert:x\n");
        UnixFileMode mode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead;
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(Path, mode);
        }

        UserFiles.Set(Path, "anna", "new", ["r"]);

        string[] lines = File.ReadAllLines(Path);
        Assert.Equal(["# staff", "annabel:x", "", "bert:x"], lines.Where(static (_, i) => i != 2));
        Assert.StartsWith("anna:$argon2id$", lines[2], StringComparison.Ordinal);
        Assert.EndsWith(":r", lines[2], StringComparison.Ordinal);
        Assert.Equal([Path, Path + ".lock"], Directory.GetFiles(_directory.Path).Order());
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(mode, File.GetUnixFileMode(Path));
        }
    }

    [Fact]
    public void A_link_stays_a_link()
    {
        File.WriteAllText(_directory["real"], "bert:x\n");
        File.CreateSymbolicLink(Path, _directory["real"]);

        UserFiles.Set(Path, "anna", "a", []);

        Assert.NotNull(new FileInfo(Path).LinkTarget);
        Assert.Contains("anna:", File.ReadAllText(_directory["real"]), StringComparison.Ordinal);
    }

    [Fact]
    public void A_user_is_removed_once()
    {
        UserFiles.Set(Path, "anna", "a", []);
        UserFiles.Set(Path, "annabel", "a", []);

        Assert.True(UserFiles.Remove(Path, "anna"));
        Assert.False(UserFiles.Remove(Path, "anna"));
        Assert.StartsWith("annabel:", Assert.Single(File.ReadAllLines(Path)), StringComparison.Ordinal);
        Assert.False(UserFiles.Remove(_directory["missing"], "anna"));
    }

    [Fact]
    public async Task Changes_of_many_at_a_time_are_all_kept()
    {
        UserFiles.Set(Path, "leaver", "x", []);
        await Task.WhenAll(Enumerable.Range(0, 8).Select(writer => Task.Run(() =>
        {
            for (int i = 0; i < 4; i++)
            {
                UserFiles.Set(Path, $"{writer}-{i}", "x", []);
            }

            UserFiles.Remove(Path, "leaver");
        })));

        Assert.Equal(32, UserFile.Read(File.ReadAllBytes(Path), [])!.Count);
    }

    [Theory]
    [InlineData("", "p", "r")]
    [InlineData("a:b", "p", "r")]
    [InlineData("#a", "p", "r")]
    [InlineData("a\nroot", "p", "r")]
    [InlineData(" a", "p", "r")]
    [InlineData("a\u200B", "p", "r")]
    [InlineData("a", "", "r")]
    [InlineData("a", "p", "r,s")]
    [InlineData("a", "p", "r\n")]
    [InlineData("a", "p", "")]
    public void What_would_break_the_file_is_refused(string name, string password, string role)
    {
        Assert.Throws<ArgumentException>(() => UserFiles.Set(Path, name, password, [role]));

        Assert.False(File.Exists(Path));
    }
}
