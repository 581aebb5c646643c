using FastPort.Client.Reports;
using FastPort.Client.Tests.Support;
using Xunit;

namespace FastPort.Client.Tests.Reports;

public sealed class StatusLineTests : IDisposable
{
    private readonly Screen _screen = new(80);
    private readonly StatusLine _line;

    public StatusLineTests() => _line = new StatusLine(_screen, () => _screen.Columns);

    public void Dispose()
    {
        _line.Dispose();
        _screen.Dispose();
    }

    [Fact]
    public void Shows_one_text_in_place_of_the_other_and_leaves_nothing()
    {
        _line.WriteLine("heading");
        _line.Show(["a long first text"]);
        Assert.Equal(["heading", "a long first text"], _screen.Lines);

        _line.Show(["short"]);
        Assert.Equal(["heading", "short"], _screen.Lines);

        _line.Clear();
        Assert.Equal(["heading"], _screen.Lines);

        _line.WriteLine("result");
        Assert.Equal(["heading", "result"], _screen.Lines);
    }

    [Theory]
    [InlineData(80, "1234567890 long")]
    [InlineData(18, "1234567890 long")]
    [InlineData(17, "1234567890")]
    [InlineData(13, "1234567890")]
    [InlineData(12, "12345")]
    [InlineData(6, "123")]
    [InlineData(2, "1")]
    public void Shows_the_longest_text_that_leaves_room_for_what_the_terminal_echoes(int columns, string shown)
    {
        _screen.Resize(columns);

        _line.Show(["1234567890 long", "1234567890", "12345"]);

        Assert.Equal([shown], _screen.Lines);
    }

    [Fact]
    public void A_terminal_that_does_not_tell_its_width_has_eighty_columns()
    {
        using var line = new StatusLine(_screen, static () => 0);

        line.Show([new string('x', 78), "short"]);

        Assert.Equal(["short"], _screen.Lines);
    }

    [Fact]
    public void What_is_printed_meanwhile_goes_above_it()
    {
        _line.Show(["working"]);

        _line.WriteLine("12:00:00 WRN something");
        Assert.Equal(["12:00:00 WRN something", "working"], _screen.Lines);

        _line.Write("one\ntwo\n");
        Assert.Equal(["12:00:00 WRN something", "one", "two", "working"], _screen.Lines);
    }

    [Fact]
    public void A_line_that_is_printed_in_pieces_is_not_cut()
    {
        _line.Show(["working"]);
        foreach (char part in "12:00 WRN ")
        {
            _line.Write(part);
        }

        _line.Show(["still working"]);
        Assert.Equal(["12:00 WRN"], _screen.Lines);

        _line.Write("something".ToCharArray());
        _line.WriteLine();
        Assert.Equal(["12:00 WRN something", "still working"], _screen.Lines);
    }

    [Theory]
    [InlineData(40)]
    [InlineData(31)]
    [InlineData(10)]
    [InlineData(200)]
    public void A_terminal_that_is_resized_keeps_no_rest_of_it(int columns)
    {
        _line.WriteLine("heading");
        _line.Show([new string('x', 75), "yyyy"]);

        _screen.Resize(columns);
        _line.Show(["zzzz"]);
        Assert.Equal(["heading", "zzzz"], _screen.Lines);

        _line.Show([new string('x', 75), "yyyy"]);
        _screen.Resize(60);
        _line.Clear();
        Assert.Equal(["heading"], _screen.Lines);
    }

    [Fact]
    public void Once_abandoned_it_never_comes_back()
    {
        _line.WriteLine("heading");
        _line.Show(["working"]);

        _line.Abandon();
        _line.Show(["working"]);
        _line.WriteLine("more");

        Assert.Equal(["heading", "more"], _screen.Lines);
    }
}
