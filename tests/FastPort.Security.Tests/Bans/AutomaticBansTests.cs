using System.Net;
using FastPort.Security.Bans;
using FastPort.Security.Files;
using Xunit;

namespace FastPort.Security.Tests.Bans;

/// <summary>Automatic bans beside those of operators and of the program, which may be longer.</summary>
public sealed class AutomaticBansTests : IDisposable
{
    private static readonly DateTimeOffset Now = TimeProvider.System.GetUtcNow();

    private readonly TemporaryDirectory _directory = new();
    private readonly RecordingLog _log = new();
    private readonly BanList _bans = new();
    private readonly WatchedFile<IReadOnlyList<Ban>> _file;

    public AutomaticBansTests()
    {
        BanFiles.Create(Path);
        _file = new(Path, "bans", BanFile.MaxBytes, BanFile.Read, TimeSpan.FromSeconds(1), new FakeTimeProvider(), _log);
        IReadOnlyList<Ban> before = [];
        _file.Changed += now =>
        {
            _bans.Replace(before, now);
            before = now;
        };
    }

    private string Path => _directory["bans"];

    public void Dispose()
    {
        _file.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task One_in_the_file_that_nobody_has_read_yet_is_not_shortened()
    {
        var ban = new Ban("192.0.2.7", Now + TimeSpan.FromDays(7), "a flood");
        BanFiles.Add(Path, ban);

        await RefuseAsync(_file);

        Assert.Equal(["192.0.2.8", "192.0.2.7"], BanFiles.Read(Path).Select(static one => one.Subject));
        Assert.Equal((ban, ban), (BanFiles.Read(Path)[1], _bans.Entries[1]));

        // Who wants it shorter still can.
        var shorter = new Ban("192.0.2.7", Now + TimeSpan.FromHours(1), "it is over");
        BanFiles.Add(Path, shorter);
        Assert.True(_file.Look());
        Assert.Equal((shorter, shorter), (BanFiles.Read(Path)[1], _bans.Entries[1]));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task One_of_the_program_is_not_shortened(bool hasFile)
    {
        var ban = new Ban("192.0.2.7", Now + TimeSpan.FromDays(1), "a flood");
        _bans.Add(ban);

        await RefuseAsync(hasFile ? _file : null);

        Assert.Equal(["192.0.2.8", "192.0.2.7"], _bans.Entries.Select(static one => one.Subject));
        Assert.Equal(ban, _bans.Entries[1]);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task One_that_ends_earlier_is_replaced(bool hasFile)
    {
        _bans.Add(new Ban("192.0.2.7", Now + TimeSpan.FromMinutes(1), "a flood"));
        BanFiles.Add(Path, new Ban("192.0.2.7", Now + TimeSpan.FromMinutes(1), "a flood"));

        await RefuseAsync(hasFile ? _file : null);

        Assert.Equal(["192.0.2.7", "192.0.2.8"], _bans.Entries.Select(static one => one.Subject).Order(StringComparer.Ordinal));
        Assert.All(_bans.Entries, static one => Assert.Equal("1 logins were refused", one.Reason));
    }

    // Two addresses, one after the other: when the second one is banned, all is done about the first one.
    private async Task RefuseAsync(WatchedFile<IReadOnlyList<Ban>>? file)
    {
        var automatic = new AutomaticBans(1, TimeSpan.FromMinutes(10), _bans, file, TimeProvider.System, _log);
        automatic.Refused(new IPEndPoint(IPAddress.Parse("192.0.2.7"), 1));
        automatic.Refused(new IPEndPoint(IPAddress.Parse("192.0.2.8"), 1));
        await Patience.UntilAsync(() => _bans.Entries.Any(static one => one.Subject == "192.0.2.8"), "the second one is banned");
    }
}
