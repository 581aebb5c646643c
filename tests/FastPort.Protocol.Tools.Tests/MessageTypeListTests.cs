using FastPort.Protocol.Tools.Contracts;
using Xunit;

namespace FastPort.Protocol.Tools.Tests;

/// <summary>The checked-in list keeps the numbers of methods.</summary>
public sealed class MessageTypeListTests
{
    private const string Two =
        """
        service Move {
          option (fastport.first_type) = 0x1000;
          rpc Walk(Ask) returns (Answer);
          rpc Run(Ask) returns (Answer);
        }
        """;

    [Fact]
    public void A_list_of_all_methods_has_no_problem() =>
        Assert.Empty(Check("# types", "", "0x1000 game.Move/Walk", "0x1001 game.Move/Run", "0x1234 game.Move/Gone"));

    [Fact]
    public void A_changed_number_is_an_error_at_the_method()
    {
        Problem problem = Assert.Single(Check("0x1000 game.Move/Walk", "0x1007 game.Move/Run"));

        Assert.Equal((Problem.NumberChanged, "game.proto", 8), (problem.Code, problem.File, problem.Place.Line));
        Assert.Contains("0x1001, but 0x1007 in types.txt", problem.Message, StringComparison.Ordinal);
        Assert.Contains("Set (fastport.type) = 0x1007", problem.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_number_of_a_removed_method_is_reserved()
    {
        Problem problem = Assert.Single(Check("0x1000 game.Move/Walk", "0x1001 game.Move/Gone"));

        Assert.Equal((Problem.NumberReserved, 8), (problem.Code, problem.Place.Line));
        Assert.Contains("0x1001, which types.txt reserves for game.Move/Gone", problem.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_method_inserted_before_others_changes_their_numbers()
    {
        Problem[] problems = [.. Check("0x1000 game.Move/Run")];

        Assert.Equal([Problem.NumberReserved, Problem.NumberChanged], problems.Select(static p => p.Code));
    }

    [Fact]
    public void A_method_that_is_not_listed_is_a_warning()
    {
        Problem problem = Assert.Single(Check("0x1000 game.Move/Walk"));

        Assert.Equal((Problem.NotListed, 8, true), (problem.Code, problem.Place.Line, problem.IsWarning));
        Assert.Contains("dotnet build -t:WriteMessageTypes", problem.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("game.Move/Walk 0x1000")]
    [InlineData("0x100 game.Move/Walk")]
    [InlineData("0x1000 game.Move.Walk")]
    public void A_line_that_cannot_be_read_is_an_error_there(string line)
    {
        var problems = new List<Problem>();

        MessageTypeList.Read("types.txt", ["# types", line], problems);

        Problem problem = Assert.Single(problems);
        Assert.Equal((Problem.BadList, "types.txt", 2), (problem.Code, problem.File, problem.Place.Line));
        Assert.Contains(line, problem.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0x1000 game.Move/Run")]
    [InlineData("0x1001 game.Move/Walk")]
    public void A_number_or_method_listed_twice_is_an_error(string line)
    {
        var problems = new List<Problem>();

        MessageTypeList.Read("types.txt", ["0x1000 game.Move/Walk", line], problems);

        Assert.Equal((Problem.BadList, 2), (Assert.Single(problems).Code, problems[0].Place.Line));
    }

    [Fact]
    public void Written_lines_keep_what_was_there()
    {
        var list = MessageTypeList.Read("types.txt", ["# types", "0x2000 game.Move/Gone", "0x1001 game.Move/Run"], []);

        Assert.Equal(
            ["# types", "0x1000 game.Move/Walk", "0x1001 game.Move/Run", "0x2000 game.Move/Gone"], list.LinesWith(Methods()));
    }

    private static IEnumerable<Problem> Check(params string[] lines)
    {
        var problems = new List<Problem>();
        var list = MessageTypeList.Read(Path.Combine("project", "types.txt"), lines, problems);
        Assert.Empty(problems);
        return list.Check(Methods());
    }

    private static List<ContractMethod> Methods() => Protoc.ReadGame(Two).Services[0].Methods;
}
