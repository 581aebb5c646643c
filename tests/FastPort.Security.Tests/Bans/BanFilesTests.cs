using System.Runtime.Versioning;
using System.Text;
using FastPort.Security.Bans;
using FastPort.Security.Files;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Security.Tests.Bans;

public sealed class BanFilesTests : IDisposable
{
    private static readonly DateTimeOffset Later = new(2126, 1, 2, 3, 4, 5, TimeSpan.Zero);
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    private string Path => _directory["bans"];

    [Fact]
    public void Bans_are_added_replaced_listed_and_lifted()
    {
        Assert.Empty(BanFiles.Read(Path));
        BanFiles.Add(Path, new Ban("2001:db8:1:2::/64", Later.AddDays(1), "a flood"));
        BanFiles.Add(Path, new Ban("user:anna", Later));
        BanFiles.Add(Path, new Ban("user:anna", Later.AddDays(2), "again"));

        Assert.Equal(
            ["2001:db8:1:2::/64 is banned until 2126-01-03T03:04:05Z: a flood", "user:anna is banned until 2126-01-04T03:04:05Z: again"],
            BanFiles.Read(Path).Select(static ban => ban.ToString()));
        Assert.True(BanFiles.Lift(Path, "2001:0db8:1:2::/64"));
        Assert.False(BanFiles.Lift(Path, "2001:db8:1:2::/64"));
        Assert.Equal("user:anna", Assert.Single(BanFiles.Read(Path)).Subject);
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path));

            // Who could open it could hold the lock.
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path + ".lock"));
        }
    }

    [Fact]
    public void Bans_that_have_ended_are_not_listed_and_leave_the_file_at_the_next_change()
    {
        File.WriteAllText(Path, """{"subject":"192.0.2.7","until":"2020-01-01T00:00:00Z"}""" + "\n");
        Assert.Empty(BanFiles.Read(Path));

        BanFiles.Add(Path, new Ban("user:anna", Later));

        Assert.Equal("""{"subject":"user:anna","until":"2126-01-02T03:04:05+00:00","reason":""}""" + "\n", File.ReadAllText(Path));
    }

    [Fact]
    public void What_a_killed_process_of_the_same_id_has_left_is_not_in_the_way()
    {
        File.WriteAllText($"{Path}.{Environment.ProcessId}.tmp", string.Empty);

        BanFiles.Create(Path);
        BanFiles.Add(Path, new Ban("user:anna", Later));

        Assert.Equal("user:anna", Assert.Single(BanFiles.Read(Path)).Subject);
    }

    [Fact]
    [SupportedOSPlatform("linux")]
    public void A_file_that_root_changes_stays_its_owners()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess, "Only root gives files away.");
        (uint User, uint Group) owner = (12345, 12346);
        BanFiles.Create(Path);
        using (FileStream file = File.OpenWrite(Path))
        {
            Assert.True(Libc.TryGive(file.SafeFileHandle, owner));
        }

        UnixFileMode mode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead;
        File.SetUnixFileMode(Path, mode);
        BanFiles.Add(Path, new Ban("user:anna", Later));
        Assert.True(BanFiles.Lift(Path, "user:anna"));
        UserFiles.Set(Path, "anna", "secret", []);

        Assert.Equal((owner, mode), (Libc.OwnerOf(Path), File.GetUnixFileMode(Path)));
        Assert.Equal(owner, Libc.OwnerOf(Path + ".lock"));
    }

    [Fact]
    public void A_lock_that_is_a_link_gives_nothing_away()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess, "Only root gives files away.");
        BanFiles.Create(Path);
        using (FileStream file = File.OpenWrite(Path))
        {
            Assert.True(Libc.TryGive(file.SafeFileHandle, (12345, 12346)));
        }

        File.WriteAllText(_directory["other"], string.Empty);
        File.CreateSymbolicLink(Path + ".lock", _directory["other"]);
        BanFiles.Add(Path, new Ban("user:anna", Later));

        Assert.Equal(Libc.OwnerOf(_directory["."]), Libc.OwnerOf(_directory["other"]));
    }

    [Fact]
    public void A_file_has_no_more_bans_than_a_server_keeps()
    {
        File.WriteAllBytes(Path, BanFile.Write(
            Enumerable.Range(0, BanList.MaxEntries).Select(static i => new Ban($"user:{i}", Later.AddSeconds(i)))));

        BanFiles.Add(Path, new Ban("user:anna", Later.AddDays(1)));

        IReadOnlyList<Ban> bans = BanFiles.Read(Path);
        Assert.Equal((BanList.MaxEntries, "user:1", "user:anna"), (bans.Count, bans[0].Subject, bans[^1].Subject));
    }

    [Fact]
    public async Task Changes_of_many_at_a_time_are_all_kept()
    {
        await Task.WhenAll(Enumerable.Range(0, 8).Select(writer => Task.Run(() =>
        {
            for (int i = 0; i < 10; i++)
            {
                BanFiles.Add(Path, new Ban($"user:{writer}-{i}", Later));
            }
        })));

        Assert.Equal(80, BanFiles.Read(Path).Count);
    }

    [Theory]
    [InlineData("192.0.2.7", "Line 1")]
    [InlineData("{}", "Line 1")]
    [InlineData("null", "Line 1")]
    [InlineData("""{"subject":"192.0.2.7"}""", "Line 1")]
    [InlineData("""{"subject":"nobody","until":"2126-01-01T00:00:00Z"}""", "'nobody' cannot be banned")]
    [InlineData("""{"subject":null,"until":"2126-01-01T00:00:00Z"}""", "Line 1")]
    [InlineData("""{"subject":"user:a","until":"2126-01-01T00:00:00Z","typo":1}""", "Line 1")]
    [InlineData("""{"subject":"user:a","until":"2126-01-01T00:00:00Z","reason":"\n"}""", "Line 1")]
    public void A_line_that_is_wrong_is_named(string line, string part)
    {
        List<string> problems = [];

        Assert.Null(BanFile.Read(Encoding.UTF8.GetBytes(line), problems));

        Assert.Contains(part, Assert.Single(problems), StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_that_is_no_text_is_named()
    {
        List<string> problems = [];

        Assert.Null(BanFile.Read([0xFF], problems));

        Assert.Equal(["It is not UTF-8."], problems);
    }

    [Fact]
    public void Whatever_can_be_banned_is_read_as_it_was_written() => Prop.ForAll(
        ArbMap.Default.ArbFor<NonNull<string>>(),
        ArbMap.Default.ArbFor<NonNull<string>>(),
        static (user, reason) =>
        {
            Ban ban;
            try
            {
                ban = new Ban("user:" + user.Get, Later, reason.Get);
            }
            catch (ArgumentException)
            {
                return true;
            }

            List<string> problems = [];
            IReadOnlyList<Ban>? read = BanFile.Read(BanFile.Write([ban]), problems);

            // A lone surrogate is no text: it becomes another character.
            string text = user.Get + reason.Get;
            return read is [{ } one] && (one == ban || Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text)) != text);
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(500));
}
