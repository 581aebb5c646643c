namespace FastPort.Configuration;

/// <summary>
/// Options that describe themselves: one method reads them from a section and checks them. A server or client of any protocol registers
/// them with <see cref="SectionOptions.Add"/>.
/// </summary>
public interface IDescribedOptions
{
    /// <summary>Names each option once, with its allowed values, and stores what the section returns.</summary>
    /// <param name="section">The pass over the section.</param>
    void Describe(OptionSection section);
}
