using System.Text;
using FastPort.Security.Files;
using FastPort.Security.Tests.Support;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Security.Tests.Files;

public sealed class WatchedFileTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly RecordingLog _log = new();
    private readonly FakeTimeProvider _time = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_change_is_seen_at_the_next_look_and_told_once()
    {
        File.WriteAllText(_directory["a"], "one");
        using WatchedFile<string> file = Watch();
        List<string> told = [];
        file.Changed += told.Add;
        Assert.Equal("one", file.Current);

        File.WriteAllText(_directory["a"], "two");
        Assert.Equal("one", file.Current);
        _time.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal("two", file.Current);
        Assert.Equal(["two"], told);
        Assert.Single(_log.WithId(9100));
    }

    [Fact]
    public void A_change_while_a_follower_takes_what_was_read_first_is_told_to_it()
    {
        File.WriteAllText(_directory["a"], "one");
        using WatchedFile<string> file = Watch();
        List<string> told = [];

        file.Follow(text =>
        {
            told.Add(text);
            if (text == "one")
            {
                File.WriteAllText(_directory["a"], "two");
                Look();
            }
        });
        Look();

        Assert.Equal(["one", "two"], told);

        // On another thread, as a timer does.
        void Look()
        {
            var look = new Thread(() => _time.Advance(TimeSpan.FromSeconds(1)));
            look.Start();
            look.Join();
        }
    }

    [Fact]
    public void A_symbolic_link_that_is_swapped_is_a_change()
    {
        File.WriteAllText(_directory["v1"], "one");
        File.WriteAllText(_directory["v2"], "two");
        File.CreateSymbolicLink(_directory["a"], _directory["v1"]);
        using WatchedFile<string> file = Watch();

        File.CreateSymbolicLink(_directory["next"], _directory["v2"]);
        File.Move(_directory["next"], _directory["a"], overwrite: true);
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal("two", file.Current);
    }

    [Fact]
    public void A_file_that_has_gone_or_is_wrong_changes_nothing_and_each_problem_is_logged_once()
    {
        File.WriteAllText(_directory["a"], "one");
        using WatchedFile<string> file = Watch();

        File.WriteAllText(_directory["a"], "bad");
        _time.Advance(TimeSpan.FromSeconds(3));
        Assert.Contains("It is bad.", Assert.Single(_log.WithId(9101)).Text, StringComparison.Ordinal);
        File.Delete(_directory["a"]);
        _time.Advance(TimeSpan.FromSeconds(3));

        Assert.Equal("one", file.Current);
        Assert.Equal(2, _log.WithId(9101).Count);
        File.WriteAllText(_directory["a"], "two");
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("two", file.Current);
    }

    [Fact]
    public void A_subscriber_that_throws_ends_neither_the_looks_nor_the_calls_of_the_others()
    {
        File.WriteAllText(_directory["a"], "one");
        using WatchedFile<string> file = Watch();
        List<string> told = [];
        file.Changed += static _ => throw new InvalidOperationException("a defect");
        file.Changed += told.Add;

        File.WriteAllText(_directory["a"], "two");
        _time.Advance(TimeSpan.FromSeconds(1));
        File.WriteAllText(_directory["a"], "three");
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal("three", file.Current);
        Assert.Equal(["two", "three"], told);
        Assert.Equal(2, _log.WithId(9102).Count);
        Assert.Empty(_log.WithId(9101));
    }

    // A look is a timer's callback: what it throws ends the process.
    [Fact]
    public void A_log_that_throws_does_not_end_the_looks()
    {
        File.WriteAllText(_directory["a"], "one");
        var log = new ThrowingLog();
        using WatchedFile<string> file = Watch(log);
        List<string> told = [];
        file.Changed += told.Add;
        file.Changed += static text => throw new InvalidOperationException("a defect");

        foreach (string text in (string[])["two", "bad", "three"])
        {
            File.WriteAllText(_directory["a"], text);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal("three", file.Current);
        Assert.Equal(["two", "three"], told);
        Assert.Equal(5, log.Calls);
    }

    [Theory]
    [InlineData(null, "Could not find file")]
    [InlineData("bad", "It is bad.")]
    [InlineData("much too long a text", "at most 10 are read")]
    public void The_first_read_must_succeed(string? text, string problem)
    {
        if (text is not null)
        {
            File.WriteAllText(_directory["a"], text);
        }

        SecurityFileException e = Assert.Throws<SecurityFileException>(() => Watch());

        Assert.Contains(problem, e.Message, StringComparison.Ordinal);
        Assert.Contains(_directory["a"], e.Message, StringComparison.Ordinal);
    }

    private WatchedFile<string> Watch(ILogger? log = null) => new(
        _directory["a"], "test", 10, static (bytes, problems) =>
        {
            string text = Encoding.UTF8.GetString(bytes);
            if (text == "bad")
            {
                problems.Add("It is bad.");
                return null;
            }

            return text;
        },
        TimeSpan.FromSeconds(1), _time, log ?? _log);
}
